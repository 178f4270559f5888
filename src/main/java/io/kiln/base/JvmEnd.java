// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

/** Whether this JVM is ending, as after Ctrl-C. Its processes end first: what they say then is no result of theirs, and must not be kept as one. */
public final class JvmEnd {
    /** A terminal sends Ctrl-C to the processes at the same time as to the JVM, which takes a moment to begin its end. */
    private static final long GRACE_MILLIS = 500;

    private JvmEnd() {}

    /** Whether the JVM is ending by now. */
    public static boolean isUnderway() {
        Thread probe = new Thread(() -> {}, "end-probe");
        try {
            Runtime.getRuntime().addShutdownHook(probe);
        } catch (IllegalStateException e) {
            // Hooks can no longer be added.
            return true;
        }
        return !remove(probe);
    }

    /**
     * Removes a shutdown hook whose work is done.
     *
     * @return whether it is removed; otherwise the JVM is ending, and the hook runs
     */
    public static boolean remove(Thread hook) {
        try {
            return Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            return false;
        }
    }

    /** Whether the JVM is ending within half a second; for processes that failed. Waits so long if it is not. */
    public static boolean isNear() {
        try {
            for (long waited = 0; waited < GRACE_MILLIS && !isUnderway(); waited += GRACE_MILLIS / 10) {
                Thread.sleep(GRACE_MILLIS / 10);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return isUnderway();
    }
}
