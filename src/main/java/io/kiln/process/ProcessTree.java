// SPDX-License-Identifier: Apache-2.0
package io.kiln.process;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/** Kills a process together with its descendants. */
final class ProcessTree {
    private static final int ROUNDS = 3;
    private static final long SECONDS_TO_DIE = 5;

    private ProcessTree() {}

    /**
     * Kills the process and its descendants, and waits until they have ended. It does not ask them to terminate,
     * because some tools ignore that (OpenOCD while it programs). Several rounds catch processes started during the
     * first one.
     */
    static void kill(Process root) {
        List<ProcessHandle> seen = tree(root.toHandle());
        for (int round = 0; round < ROUNDS && !seen.isEmpty(); round++) {
            seen.forEach(ProcessHandle::destroyForcibly);
            await(seen);
            seen = Stream.concat(seen.stream(), seen.stream().flatMap(ProcessHandle::descendants))
                    .distinct()
                    .filter(ProcessHandle::isAlive)
                    .toList();
        }
    }

    private static List<ProcessHandle> tree(ProcessHandle root) {
        return Stream.concat(Stream.of(root), root.descendants())
                .filter(ProcessHandle::isAlive)
                .toList();
    }

    private static void await(List<ProcessHandle> handles) {
        CompletableFuture<?> gone = CompletableFuture.allOf(
                handles.stream().map(ProcessHandle::onExit).toArray(CompletableFuture[]::new));
        try {
            gone.get(SECONDS_TO_DIE, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            // The next round tries again; a process stuck in the kernel cannot be killed from here.
            return;
        }
    }
}
