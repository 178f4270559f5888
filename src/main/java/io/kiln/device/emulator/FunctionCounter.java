// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Symbol;
import io.kiln.cycles.BlockSink;
import io.kiln.cycles.ExecutedBlock;
import io.kiln.device.emulator.BlockTrace.Range;
import io.kiln.device.emulator.DebugStub.Architecture;
import io.kiln.device.emulator.DebugStub.Stop;
import io.kiln.device.emulator.FunctionCounter.Calls;
import io.kiln.device.emulator.FunctionCounter.FunctionTrace;
import io.kiln.process.RunningProcess;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Counts the instructions of functions that a program calls one after another in one boot. After each call the program calls one more
 * function, with its verdict on the call as the argument.
 *
 * @param emulator the board to count on; QEMU must emulate it
 */
public record FunctionCounter(Emulator emulator) {
    /** Function in which the boards' fault handlers end. */
    private static final String FAULT = "kiln_fault";

    /**
     * A counted call.
     *
     * @param instructions from the function's first instruction to its return
     * @param verdict what the program said of it
     */
    public record Counted(long instructions, long verdict) {}

    /**
     * The counted calls.
     *
     * @param counted in the order of the functions
     * @param failure what happened in the first function that is not counted; empty if all of them are
     */
    public record Calls(List<Counted> counted, Optional<KilnException> failure) {
        public Calls {
            counted = List.copyOf(counted);
        }
    }

    /**
     * Runs a program.
     *
     * @param image ELF file with its symbols, linked for the board
     * @param functions names of the functions in the order of their calls
     * @param told name of the function that is called after each of them
     */
    public Calls count(Path image, List<String> functions, String told) {
        InstructionCounter.requireQemu(emulator.board());
        ElfFile elf = ElfFile.read(image);
        List<Long> addresses =
                functions.stream().map(name -> address(elf, image, name)).toList();
        long verdict = address(elf, image, told);
        Path folder = InstructionCounter.temporaryFolder();
        List<Counted> counted = new ArrayList<>();
        try (RunningProcess process = emulator.start(image, InstructionCounter.sockets(folder), folder)) {
            drain(process);
            try (MachineMonitor monitor = MachineMonitor.connect(
                            folder.resolve(InstructionCounter.MONITOR), InstructionCounter.TO_CONNECT);
                    DebugStub stub = DebugStub.connect(
                            folder.resolve(InstructionCounter.DEBUG),
                            monitor,
                            Architecture.of(elf),
                            InstructionCounter.TO_CONNECT)) {
                elf.symbolValue(FAULT).ifPresent(fault -> stub.stopAt(fault & ~1L));
                for (long function : addresses) {
                    counted.add(call(stub, function, verdict));
                }
                return new Calls(counted, Optional.empty());
            } catch (KilnException e) {
                return new Calls(counted, Optional.of(emulator.explained(e, image, process)));
            }
        }
    }

    private static Counted call(DebugStub stub, long function, long told) {
        Stop entry = runTo(stub, function);
        Stop exit = runTo(stub, entry.returnAddress());
        Stop verdict = runTo(stub, told);
        return new Counted(exit.instructions() - entry.instructions(), verdict.result());
    }

    /** Runs to an address. Only this stop has a breakpoint: QEMU translates the code around one instruction by instruction. */
    private static Stop runTo(DebugStub stub, long address) {
        stub.stopAt(address);
        stub.resume();
        Stop stop = stub.await();
        stub.passBy(address);
        if (stop.address() != address) {
            throw Failure.PROFILE.exception("the program stopped with a fault", Long.toHexString(stop.address()));
        }
        return stop;
    }

    static long address(ElfFile elf, Path image, String name) {
        return symbol(elf, image, name).value() & ~1L;
    }

    static Symbol symbol(ElfFile elf, Path image, String name) {
        return elf.symbols().stream()
                .filter(symbol -> symbol.isFunction() && symbol.name().equals(name))
                .findFirst()
                .orElseThrow(() -> Failure.PROFILE.exception("the image has no function " + name, image.toString()));
    }

    /** Reads and drops the console's output, which nobody needs. */
    static void drain(RunningProcess process) {
        Thread thread = new Thread(
                () -> {
                    try {
                        process.output().transferTo(OutputStream.nullOutputStream());
                    } catch (IOException e) {
                        // The process was stopped: there is nothing left to read.
                        return;
                    }
                },
                "unread-console");
        thread.setDaemon(true);
        thread.start();
    }

    /**
     * Counts how often each block of instructions is executed in functions that a program calls one after another in one boot, from QEMU's log
     * of executed blocks.
     *
     * @param emulator the board to count on; QEMU must emulate it
     */
    public record FunctionTrace(Emulator emulator) {
        /** The function that calls them. */
        private static final String CALLER = "main";

        /**
         * Runs a program whose {@code main} calls the functions. Owner {@code i + 1} of a block is function {@code i} with what it calls, owner 0 the rest of the program.
         *
         * @param image ELF file with its symbols, linked for the board
         * @param functions names of the functions in the order of their calls, at least one
         * @param instructions of each of them, as {@link FunctionCounter} counted them
         * @param end name of a function that is called after them
         * @param sink is told of each block in order; of the registers of an Arm core too
         * @throws KilnException if the log does not have all of these instructions
         */
        public List<ExecutedBlock> blocks(
                Path image, List<String> functions, List<Long> instructions, String end, BlockSink sink) {
            InstructionCounter.requireQemu(emulator.board());
            ElfFile elf = ElfFile.read(image);
            NavigableMap<Long, Range> owners = new TreeMap<>();
            own(owners, FunctionCounter.symbol(elf, image, CALLER), 0);
            for (int i = 0; i < functions.size(); i++) {
                own(owners, FunctionCounter.symbol(elf, image, functions.get(i)), i + 1);
            }
            long first = FunctionCounter.address(elf, image, functions.get(0));
            BlockTrace trace = new BlockTrace(elf, owners, first, FunctionCounter.address(elf, image, end), sink);
            List<ExecutedBlock> blocks = run(image, Architecture.of(elf), first, trace, !sink.equals(BlockSink.NONE));
            for (int i = 0; i < functions.size(); i++) {
                require(blocks, i + 1, instructions.get(i), functions.get(i));
            }
            return blocks;
        }

        private static void own(NavigableMap<Long, Range> owners, Symbol symbol, int owner) {
            long start = symbol.value() & ~1L;
            owners.put(start, new Range(start + symbol.size(), owner));
        }

        private List<ExecutedBlock> run(
                Path image, Architecture architecture, long first, BlockTrace trace, boolean withRegisters) {
            Path folder = InstructionCounter.temporaryFolder();
            try (RunningProcess process =
                    emulator.start(image, InstructionCounter.sockets(folder), folder, trace::take)) {
                FunctionCounter.drain(process);
                try (MachineMonitor monitor = MachineMonitor.connect(
                                folder.resolve(InstructionCounter.MONITOR), InstructionCounter.TO_CONNECT);
                        DebugStub stub = DebugStub.connect(
                                folder.resolve(InstructionCounter.DEBUG),
                                architecture,
                                InstructionCounter.TO_CONNECT)) {
                    stub.stopAt(first);
                    stub.resume();
                    stub.await();
                    // With a breakpoint, QEMU would translate the code around it instruction by instruction.
                    stub.passBy(first);
                    monitor.logBlocks(withRegisters);
                    stub.resume();
                    return trace.result().get(emulator.limit().toMillis(), TimeUnit.MILLISECONDS);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw truncated(e);
                } catch (ExecutionException | TimeoutException e) {
                    throw truncated(e);
                } catch (KilnException e) {
                    throw emulator.explained(e, image, process);
                }
            }
        }

        private KilnException truncated(Exception cause) {
            return new KilnException(
                    Failure.PROFILE.problem(
                            "the log of executed blocks did not end within "
                                    + emulator.limit().toSeconds() + " s",
                            emulator.name(),
                            "a whole log",
                            "Allow a longer time"),
                    cause);
        }

        private void require(List<ExecutedBlock> blocks, int owner, long instructions, String function) {
            long logged = blocks.stream()
                    .filter(block -> block.owner() == owner)
                    .mapToLong(block -> block.count() * block.instructions())
                    .sum();
            if (logged != instructions) {
                throw Failure.PROFILE.exception(
                        "the log of executed blocks has " + logged + " instructions of " + function + ", but "
                                + instructions + " were executed",
                        emulator.name(),
                        "a whole log");
            }
        }
    }

    /** Counts what functions execute that a program calls one after another, here or elsewhere. */
    public interface CallsCounter {
        /** Counts the instructions of functions, as {@link FunctionCounter#count} does. */
        Calls count(Path image, List<String> functions, String told);

        /**
         * Counts the executed blocks of functions, as {@link FunctionTrace#blocks} does.
         *
         * @param sink is told of each block in order if that {@linkplain #hasOrder is known}
         */
        List<ExecutedBlock> blocks(
                Path image, List<String> functions, List<Long> instructions, String end, BlockSink sink);

        /** Whether the order of the blocks is known. */
        boolean hasOrder();

        /** Counts in an emulator of this computer. */
        static CallsCounter in(Emulator emulator) {
            return new CallsCounter() {
                @Override
                public Calls count(Path image, List<String> functions, String told) {
                    return new FunctionCounter(emulator).count(image, functions, told);
                }

                @Override
                public List<ExecutedBlock> blocks(
                        Path image, List<String> functions, List<Long> instructions, String end, BlockSink sink) {
                    return new FunctionTrace(emulator).blocks(image, functions, instructions, end, sink);
                }

                @Override
                public boolean hasOrder() {
                    return true;
                }
            };
        }
    }
}
