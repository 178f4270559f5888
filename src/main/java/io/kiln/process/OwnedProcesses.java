// SPDX-License-Identifier: Apache-2.0
package io.kiln.process;

import io.kiln.base.JvmEnd;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

/**
 * A group of threads whose processes end with the group, and not at once when the JVM is told to end: what they do may be finished first. Threads that
 * these threads start belong to it, too.
 */
public final class OwnedProcesses extends ThreadGroup implements AutoCloseable {
    private final Set<Process> processes = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean isClosed = new AtomicBoolean();

    /** @param name for people */
    public OwnedProcesses(String name) {
        super(name);
    }

    /** The group of this thread, if it has one. */
    private static Optional<OwnedProcesses> current() {
        return Stream.iterate(Thread.currentThread().getThreadGroup(), each -> each != null, ThreadGroup::getParent)
                .filter(OwnedProcesses.class::isInstance)
                .map(OwnedProcesses.class::cast)
                .findFirst();
    }

    /**
     * Has somebody kill a process that this thread has started: its group, or else the end of the JVM.
     *
     * @return to be called when the process has ended
     */
    static Runnable endOf(Process process) {
        Optional<OwnedProcesses> group = current();
        if (group.isPresent()) {
            group.get().add(process);
            return () -> group.get().processes.remove(process);
        }
        Thread hook = new Thread(() -> ProcessTree.kill(process), "kill-" + process.pid());
        Runtime.getRuntime().addShutdownHook(hook);
        return () -> JvmEnd.remove(hook);
    }

    private void add(Process process) {
        processes.add(process);
        if (isClosed.get()) {
            ProcessTree.kill(process);
        }
    }

    /** Kills the processes of the group; those that it starts from now on end at once. */
    @Override
    public void close() {
        isClosed.set(true);
        processes.forEach(ProcessTree::kill);
    }
}
