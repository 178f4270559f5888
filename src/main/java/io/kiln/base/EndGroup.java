// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

/**
 * Threads whose processes survive the signal that ends the JVM until the group is closed, so that what they do, such as a flash, is finished first. Threads
 * that these threads start belong to the group, too.
 */
public final class EndGroup extends ThreadGroup implements AutoCloseable {
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
