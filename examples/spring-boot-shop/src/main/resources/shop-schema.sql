create table orders (
  id identity primary key,
  item varchar not null,
  shipped_by varchar,
  fence bigint not null default 0 -- the largest fencing token that has written the row
);

-- No constraint keeps a second parcel out: the lock does.
create table parcels (
  order_id bigint not null references orders,
  packed_by varchar not null
);

create table reports (
  id identity primary key,
  written_at timestamp with time zone not null,
  written_by varchar not null,
  shipped bigint not null
);

create table instances (
  name varchar primary key,
  url varchar not null
);
