// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

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

    /**
     * Threads whose processes survive the signal that ends the JVM until the group is closed, so that what they do, such as a flash, is finished first. Threads
     * that these threads start belong to the group, too.
     */
    public static final class EndGroup extends ThreadGroup implements AutoCloseable {
        private final Set<Runnable> ends = ConcurrentHashMap.newKeySet();
        private final AtomicBoolean isClosed = new AtomicBoolean();

        /** @param name for people */
        public EndGroup(String name) {
            super(name);
        }

        /** The group of this thread, if it has one. */
        private static Optional<EndGroup> current() {
            return Stream.iterate(Thread.currentThread().getThreadGroup(), each -> each != null, ThreadGroup::getParent)
                    .filter(EndGroup.class::isInstance)
                    .map(EndGroup.class::cast)
                    .findFirst();
        }

        /**
         * Has somebody end what this thread has started: its group, or else the end of the JVM.
         *
         * @param end ends it
         * @param name of the thread that does, at the end of the JVM
         * @return to be called when it has ended
         */
        public static Runnable atEnd(Runnable end, String name) {
            Optional<EndGroup> group = current();
            if (group.isPresent()) {
                group.get().add(end);
                return () -> group.get().ends.remove(end);
            }
            Thread hook = new Thread(end, name);
            Runtime.getRuntime().addShutdownHook(hook);
            return () -> JvmEnd.remove(hook);
        }

        private void add(Runnable end) {
            ends.add(end);
            if (isClosed.get()) {
                end.run();
            }
        }

        /** Ends what the group has started; what it starts from now on ends at once. */
        @Override
        public void close() {
            isClosed.set(true);
            ends.forEach(Runnable::run);
        }
    }
}
