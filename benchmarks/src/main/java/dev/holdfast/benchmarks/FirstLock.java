package dev.holdfast.benchmarks;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** A new JVM opens a lock, acquires it once and releases it. */
record FirstLock(int nodes) implements Scenario {
  @Override
  public String id() {
    return "first-lock-" + nodes;
  }

  @Override
  public String title() {
    return "N=" + nodes + ", from the start of a JVM to the end of its first lock";
  }

  @Override
  public int warmUps(Effort effort) {
    return 1;
  }

  @Override
  public void slice(Subject subject, Effort effort, Tally tally) throws Exception {
    List<String> arguments = new ArrayList<>(List.of(subject.kind().id()));
    arguments.addAll(subject.uris());
    Tally.Own own = new Tally.Own();
    long begun = System.nanoTime();
    try (ChildJvm child = ChildJvm.start(List.of(), FirstLock.class, arguments)) {
      if (!Boolean.parseBoolean(child.line())) {
        throw new IllegalStateException("it did not get a lock that is free");
      }
      own.took(System.nanoTime() - begun);
    }
    tally.add(own);
  }

  @Override
  public Map<Figure, Double> figures(Tally tally) {
    Map<Figure, Double> figures = new EnumMap<>(Figure.class);
    figures.put(Figure.FIRST_LOCK, tally.longestMillis());
    return figures;
  }

  @Override
  public List<String> notes() {
    return List.of("java -cp … without tuning for a fast start, and loading classes is most of it");
  }

  /** Runs in the new JVM. The arguments are the kind of lock and the servers. */
  public static void main(String[] arguments) throws Exception {
    Kind kind = Kinds.of(arguments[0]);
    List<String> uris = List.of(arguments).subList(1, arguments.length);
    try (Contestant contestant = kind.opener().open(uris)) {
      System.out.println(contestant.locked("first-lock", () -> {}));
    }
  }
}
