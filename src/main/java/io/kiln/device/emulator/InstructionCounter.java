// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.artifact.InterfaceNames;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Symbol;
import io.kiln.cycles.BlockSink;
import io.kiln.cycles.BlockSink.ExecutedBlock;
import io.kiln.device.emulator.DebugStub.Architecture;
import io.kiln.device.emulator.DebugStub.Stop;
import io.kiln.device.emulator.Emulator.EmulatorTransport;
import io.kiln.device.emulator.FunctionCounter.BlockTrace;
import io.kiln.device.emulator.FunctionCounter.BlockTrace.Range;
import io.kiln.device.fault.FaultWatch;
import io.kiln.device.protocol.ModelSession;
import io.kiln.device.protocol.ModelSession.Model;
import io.kiln.device.protocol.Protocol;
import io.kiln.device.transport.Transport;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Emulation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Counts the instructions of one run of a model in an uninstrumented image that answers a host. QEMU advances
 * its clock by instructions ({@code -icount}), so that the same image with the same inputs gives the same counts on
 * every computer; its debug stub stops it where functions begin and return, and its monitor reports the number of
 * executed instructions.
 *
 * @param emulator the board to count on; QEMU must emulate it
 * @param protocol what the image's application speaks
 */
public record InstructionCounter(Emulator emulator, Protocol protocol) implements RunCounter {
    static final Duration TO_CONNECT = Duration.ofSeconds(10);
    static final String DEBUG = "debug";
    static final String MONITOR = "monitor";

    /**
     * Counts one run.
     *
     * @param image ELF file with its symbols, linked for the board
     * @param model name of the model
     * @param operators names of the operator functions
     * @param inputs the bytes of each input
     * @throws KilnException if the image lacks a function, or QEMU fails
     */
    @Override
    public InstructionCounts count(Path image, String model, List<String> operators, List<Bytes> inputs) {
        Map<String, List<Long>> functions = functions(image, model, operators);
        List<Long> entries = functions.remove(new InterfaceNames(model).run());
        return connected(
                image, line -> false, (counting, monitor) -> counting.count(model, entries, functions, inputs));
    }

    /**
     * Counts the instructions of the first call of a function while a model runs.
     *
     * @param model the model, or what stands for it in the image's table
     * @param function name of the function
     * @throws KilnException as {@link #count}
     */
    public long firstCall(Path image, String model, String function, List<Bytes> inputs) {
        List<Long> entries = addresses(ElfFile.read(image), function);
        return connected(image, line -> false, (counting, monitor) -> counting.count(model, entries, Map.of(), inputs))
                .total();
    }

    /**
     * Counts how often each block of instructions is executed in the same run, from QEMU's log of executed blocks. Blocks of owner 0 are
     * the entry point's and the main function's, those of owner {@code i + 1} operator {@code i}'s, with what they call.
     *
     * @param counts of {@link #count} with the same arguments
     * @param sink is told of each block in order; of the registers of an Arm core too
     * @throws KilnException as {@link #count}, or if the log does not have all of its instructions
     */
    @Override
    public List<ExecutedBlock> blocks(
            Path image,
            String model,
            List<String> operators,
            List<Bytes> inputs,
            InstructionCounts counts,
            BlockSink sink) {
        List<Long> entries = functions(image, model, operators).get(new InterfaceNames(model).run());
        LoggedRun run = new LoggedRun(ElfFile.read(image), model, operators, entries, sink);
        List<ExecutedBlock> blocks = connected(
                image, run::take, (counting, monitor) -> run.blocks(counting, monitor, inputs, emulator.limit()));
        long logged = blocks.stream()
                .mapToLong(block -> block.count() * block.instructions())
                .sum();
        if (logged != counts.total()) {
            throw Failure.PROFILE.exception(
                    "the log of executed blocks has " + logged + " instructions, but " + counts.total()
                            + " were executed",
                    emulator.name(),
                    "a whole log");
        }
        return blocks;
    }

    @Override
    public boolean hasOrder() {
        return true;
    }

    private <T> T connected(Path image, Predicate<String> log, BiFunction<Counting, MachineMonitor, T> then) {
        requireQemu(emulator.board());
        Architecture architecture = Architecture.of(ElfFile.read(image));
        Path folder = temporaryFolder();
        FaultWatch faults = new FaultWatch(text -> {});
        try (Transport line =
                new EmulatorTransport(emulator, image, emulator.start(image, sockets(folder), folder, log))) {
            try (MachineMonitor monitor = MachineMonitor.connect(folder.resolve(MONITOR), TO_CONNECT);
                    DebugStub stub = DebugStub.connect(folder.resolve(DEBUG), monitor, architecture, TO_CONNECT)) {
                return then.apply(new Counting(protocol, line, stub, faults), monitor);
            } catch (KilnException e) {
                throw line.explained(faults.explained(e, image));
            }
        }
    }

    static void requireQemu(Board board) {
        if (!(board.emulation() instanceof Emulation.Qemu)) {
            throw Failure.PROFILE.exception(
                    "instructions cannot be counted on " + board.id(),
                    "kiln.board",
                    "a board that QEMU emulates, such as mps2-an386");
        }
    }

    private Map<String, List<Long>> functions(Path image, String model, List<String> operators) {
        requireQemu(emulator.board());
        ElfFile elf = ElfFile.read(image);
        String entry = new InterfaceNames(model).run();
        Map<String, List<Long>> functions = new LinkedHashMap<>();
        Problems problems = new Problems(Failure.PROFILE);
        Stream.concat(Stream.of(entry), operators.stream()).forEach(name -> {
            List<Long> addresses = addresses(elf, name);
            if (addresses.isEmpty()) {
                problems.add(
                        "the image has no function " + name,
                        image.toString(),
                        "an image with its symbols, whose operators were not inlined");
            }
            functions.put(name, addresses);
        });
        problems.throwIfAny();
        return functions;
    }

    private static List<Long> addresses(ElfFile elf, String name) {
        return symbols(elf, name).map(symbol -> symbol.value() & ~1L).distinct().toList();
    }

    /** Functions of a name; a compiler may call a specialised clone, named with a dot and a suffix. */
    static Stream<Symbol> symbols(ElfFile elf, String name) {
        return elf.symbols().stream()
                .filter(Symbol::isFunction)
                .filter(symbol -> symbol.name().equals(name) || symbol.name().startsWith(name + "."));
    }

    static Path temporaryFolder() {
        try {
            return Files.createTempDirectory("kiln");
        } catch (IOException e) {
            throw FileFailure.of("cannot make a folder in", Path.of(System.getProperty("java.io.tmpdir")), e);
        }
    }

    /** The clock advances by instructions; debug stub and monitor are sockets in a folder. */
    static List<String> sockets(Path folder) {
        return List.of(
                "-icount",
                "shift=0,sleep=off",
                "-S",
                "-gdb",
                "unix:" + folder.resolve(DEBUG) + ",server=on,wait=off",
                "-qmp",
                "unix:" + folder.resolve(MONITOR) + ",server=on,wait=off");
    }

    /**
     * One run of a model of which QEMU logs the executed blocks. QEMU's standard error feeds it from a thread of its own; the log begins at
     * the model's entry point and is ended as soon as the run has returned.
     */
    private static final class LoggedRun {
        private final ElfFile elf;
        private final String model;
        private final List<Long> entries;
        private final BlockSink sink;
        private final NavigableMap<Long, Range> owners = new TreeMap<>();
        private volatile BlockTrace trace;

        /**
         * @param model its name
         * @param operators names of the operators' functions
         * @param entries addresses of the model's entry point
         * @param sink is told of each block; only then registers are logged
         */
        LoggedRun(ElfFile elf, String model, List<String> operators, List<Long> entries, BlockSink sink) {
            this.elf = elf;
            this.model = model;
            this.entries = entries;
            this.sink = sink;
            // The trace before the model's entry point, where nothing is logged.
            this.trace = new BlockTrace(elf, owners, 0, 0, BlockSink.NONE);
            InterfaceNames names = new InterfaceNames(model);
            own(names.run(), 0);
            own(names.main(), 0);
            for (int part = 0;
                    InstructionCounter.symbols(elf, names.mainPart(part))
                            .findAny()
                            .isPresent();
                    part++) {
                own(names.mainPart(part), 0);
            }
            for (int i = 0; i < operators.size(); i++) {
                own(operators.get(i), i + 1);
            }
        }

        private void own(String function, int owner) {
            InstructionCounter.symbols(elf, function).forEach(symbol -> {
                long start = symbol.value() & ~1L;
                owners.put(start, new Range(start + symbol.size(), owner));
            });
        }

        /** Takes a line of QEMU's standard error; false if it is not part of the log. */
        boolean take(String line) {
            return trace.take(line);
        }

        /**
         * Runs the model.
         *
         * @param limit for the time of the run
         */
        List<ExecutedBlock> blocks(Counting counting, MachineMonitor monitor, List<Bytes> inputs, Duration limit) {
            return counting.at(model, entries, inputs, entry -> logged(entry, monitor, limit))
                    .result();
        }

        private List<ExecutedBlock> logged(Counting.Entry entry, MachineMonitor monitor, Duration limit) {
            trace = new BlockTrace(
                    elf, owners, entry.stop().address(), entry.stop().returnAddress(), sink);
            CompletableFuture<List<ExecutedBlock>> result = trace.result();
            entry.answer().exceptionally(failure -> {
                result.completeExceptionally(failure);
                return List.of();
            });
            monitor.logBlocks(!sink.equals(BlockSink.NONE));
            entry.resume();
            try {
                List<ExecutedBlock> blocks = result.get(limit.toMillis(), TimeUnit.MILLISECONDS);
                monitor.logNothing();
                return blocks;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw truncated(e);
            } catch (ExecutionException | TimeoutException e) {
                throw truncated(e);
            }
        }

        private static KilnException truncated(Exception cause) {
            return new KilnException(
                    Failure.PROFILE.problem("the log of executed blocks ended before the run", "QEMU", "a whole log"),
                    cause);
        }
    }

    /**
     * One counted run in a QEMU that is stopped before the image's first instruction. Two threads wait for the console and
     * the debug stub; if one fails, it ends QEMU, which ends the other's wait. So does QEMU's time limit.
     */
    private record Counting(Protocol protocol, Transport line, DebugStub stub, FaultWatch faults) {
        /**
         * Counts instructions.
         *
         * @param name the model's name
         * @param entries addresses of the model's entry point
         * @param functions addresses of the model's operators by name
         */
        InstructionCounts count(
                String name, List<Long> entries, Map<String, List<Long>> functions, List<Bytes> inputs) {
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
}
