// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.device.emulator.DebugStub.Stop;
import io.kiln.device.emulator.RunCounter.InstructionCounts;
import io.kiln.device.fault.FaultWatch;
import io.kiln.device.protocol.ModelSession;
import io.kiln.device.protocol.ModelSession.Model;
import io.kiln.device.protocol.Protocol;
import io.kiln.device.transport.Transport;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * One counted run in a QEMU that is stopped before the image's first instruction. Two threads wait for the console and
 * the debug stub; if one fails, it ends QEMU, which ends the other's wait. So does QEMU's time limit.
 */
record Counting(Protocol protocol, Transport line, DebugStub stub, FaultWatch faults) {
    /**
     * Counts instructions.
     *
     * @param name the model's name
     * @param entries addresses of the model's entry point
     * @param functions addresses of the model's operators by name
     */
    InstructionCounts count(String name, List<Long> entries, Map<String, List<Long>> functions, List<Bytes> inputs) {
        CallCounter counter = new CallCounter(stub, functions);
        Counted<Long> counted = at(name, entries, inputs, entry -> {
            long total = counter.countCall(entry.stop());
            entry.resume();
            return total;
        });
        return new InstructionCounts(counted.result(), counter.counts(), counted.outputs(), counted.stackUsed());
    }

    /**
     * A run at its entry point, without a breakpoint there any more.
     *
     * @param stop where it stopped
     * @param stub what it is resumed by
     * @param answer the run's outputs, as soon as the console has them, or why it has none
     */
    record Entry(Stop stop, DebugStub stub, CompletableFuture<List<Bytes>> answer) {
        void resume() {
            stub.resume();
        }
    }

    /**
     * The result of an action at the beginning of a run, and the run's outputs.
     *
     * @param result of the action
     * @param outputs of the run
     * @param stackUsed the deepest use of the stack in bytes, if the program said it
     */
    record Counted<T>(T result, List<Bytes> outputs, OptionalLong stackUsed) {}

    /**
     * Runs a model; an action begins at its entry point.
     *
     * @param then the action at the entry point, which resumes the image
     */
    <T> Counted<T> at(String name, List<Long> entries, List<Bytes> inputs, Function<Entry, T> then) {
        entries.forEach(stub::stopAt);
        stub.resume();
        try (ModelSession session = protocol.connect(line, faults)) {
            CompletableFuture<List<Bytes>> answer = answer(session, name, inputs);
            try {
                Stop entry = stub.await();
                entries.forEach(stub::passBy);
                T result = then.apply(new Entry(entry, stub, answer));
                List<Bytes> outputs = joined(answer);
                session.exit();
                return new Counted<>(result, outputs, session.stackUsed());
            } catch (KilnException e) {
                throw answer.isCompletedExceptionally() ? failure(answer, e) : e;
            }
        }
    }

    private CompletableFuture<List<Bytes>> answer(ModelSession session, String name, List<Bytes> inputs) {
        List<Model> models = session.models();
        int index = IntStream.range(0, models.size())
                .filter(i -> models.get(i).name().equals(name))
                .findFirst()
                .orElseThrow(() -> Failure.PROFILE.exception(
                        "the image has no model " + name,
                        "console",
                        "one of " + models.stream().map(Model::name).toList()));
        CompletableFuture<List<Bytes>> answer = new CompletableFuture<>();
        Thread console = new Thread(
                () -> {
                    try {
                        answer.complete(session.run(index, models.get(index), inputs));
                    } catch (RuntimeException e) {
                        answer.completeExceptionally(e);
                        line.close();
                    }
                },
                "counted-run");
        console.setDaemon(true);
        console.start();
        return answer;
    }

    private static List<Bytes> joined(CompletableFuture<List<Bytes>> answer) {
        try {
            return answer.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof KilnException cause ? cause : e;
        }
    }

    /** The console's failure, if it came first. */
    private static KilnException failure(CompletableFuture<List<Bytes>> answer, KilnException other) {
        try {
            answer.join();
            return other;
        } catch (CompletionException e) {
            return e.getCause() instanceof KilnException cause ? cause : other;
        }
    }

    /**
     * Counts one call of a function and the calls that it makes. QEMU translates code near a breakpoint one instruction at
     * a time, so while a function runs only its return has a breakpoint, and inner loops run at full speed.
     */
    private static final class CallCounter {
        private final DebugStub stub;
        private final Map<Long, String> names = new TreeMap<>();
        private final Map<String, Long> counts = new LinkedHashMap<>();
        private final Set<Long> watched = new TreeSet<>();

        /**
         * @param stub debug stub of a stopped image
         * @param functions addresses of the functions by name; a function cloned by the compiler has several
         */
        CallCounter(DebugStub stub, Map<String, List<Long>> functions) {
            this.stub = stub;
            functions.forEach((name, addresses) -> {
                addresses.forEach(address -> names.put(address, name));
                counts.put(name, 0L);
            });
        }

        /** Sums by function, in the order given. */
        Map<String, Long> counts() {
            return counts;
        }

        /**
         * Counts one call.
         *
         * @param entry the stop at the outer function's first instruction, without a breakpoint there any more
         * @return instructions of the whole call; the image is stopped at its return address, without breakpoints
         */
        long countCall(Stop entry) {
            Set<Long> between = new TreeSet<>(names.keySet());
            between.add(entry.returnAddress());
            while (true) {
                Stop stop = runTo(between);
                if (stop.address() != entry.returnAddress()) {
                    Stop exit = runTo(Set.of(stop.returnAddress()));
                    counts.merge(names.get(stop.address()), exit.instructions() - stop.instructions(), Long::sum);
                    stop = exit;
                }
                // A tail call in the outer function may return for both.
                if (stop.address() == entry.returnAddress()) {
                    watch(Set.of());
                    return stop.instructions() - entry.instructions();
                }
            }
        }

        private Stop runTo(Set<Long> addresses) {
            watch(addresses);
            stub.resume();
            return stub.await();
        }

        private void watch(Set<Long> addresses) {
            for (Map.Entry<Long, Boolean> change : changes(addresses).entrySet()) {
                if (change.getValue()) {
                    stub.stopAt(change.getKey());
                    watched.add(change.getKey());
                } else {
                    stub.passBy(change.getKey());
                    watched.remove(change.getKey());
                }
            }
        }

        private Map<Long, Boolean> changes(Set<Long> addresses) {
            Map<Long, Boolean> changes = new TreeMap<>();
            watched.stream()
                    .filter(address -> !addresses.contains(address))
                    .forEach(address -> changes.put(address, false));
            addresses.stream()
                    .filter(address -> !watched.contains(address))
                    .forEach(address -> changes.put(address, true));
            return changes;
        }
    }
}
