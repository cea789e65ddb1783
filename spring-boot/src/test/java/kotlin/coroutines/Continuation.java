package kotlin.coroutines;

/**
 * A fake of the interface that Kotlin's compiler adds as the last parameter of functions that
 * suspend.
 *
 * @param <T> the result
 */
public interface Continuation<T> {}
