// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Symbol;
import io.kiln.cycles.BlockSink;
import io.kiln.cycles.BlockSink.ExecutedBlock;
import io.kiln.cycles.decode.MachineCode;
import io.kiln.device.emulator.DebugStub.Architecture;
import io.kiln.device.emulator.DebugStub.Stop;
import io.kiln.device.emulator.FunctionCounter.BlockTrace.Range;
import io.kiln.process.RunningProcess;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

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

    /**
     * Counts executed blocks from QEMU's log of {@code exec,in_asm,nochain}. The log shows each block of instructions when it is translated,
     * then its place in the host's memory and its address each time before it is executed, and with {@code cpu} the core's
     * registers, here those of an Arm core:
     *
     * <pre>
     * IN: main
     * 0x0000005c:  e003       b        #0x66
     *
     * Trace 0: 0x7f27bc000980 [00800408/0000005c/00000010/ff020200] main
     * R00=00000000 R01=00000000 R02=00000000 R03=00000000
     * Stopped execution of TB chain before 0x7f27bc000980 [0000005c] main
     * </pre>
     *
     * <p>The last line says that the block before was not executed. Counting begins at an address and ends when a block begins at another
     * one. One thread feeds it; its memory grows with the code executed, not with the log.
     */
    static final class BlockTrace {
        private static final String EXECUTED = "Trace ";
        private static final String NOT_EXECUTED = "Stopped execution of TB chain before ";
        private static final String SHOWN = "IN:";
        private static final String INSTRUCTION = "0x";
        private static final int HALFWORD_DIGITS = 4;
        private static final List<String> OTHERS = List.of("----------------", "cpu_io_recompile:", "Priv: ");
        private static final Pattern REGISTERS = Pattern.compile("R\\d\\d=[0-9a-f]{8}( R\\d\\d=[0-9a-f]{8}){3}");
        private static final Pattern REGISTER = Pattern.compile("R(\\d\\d)=([0-9a-f]{8})");
        private static final String LAST_REGISTERS = "XPSR=";
        private static final Pattern RISCV_REGISTERS = Pattern.compile("( x\\d{1,2}/\\w+ +[0-9a-f]{8}){4}");
        private static final Pattern RISCV_REGISTER = Pattern.compile("x(\\d+)/\\w+ +([0-9a-f]{8})");
        private static final String RISCV_LAST_REGISTERS = " x28/";
        private static final Pattern RISCV_STATE = Pattern.compile(" (V +=|[a-z0-9]+) +[0-9a-f]+");
        private static final int CORE_REGISTERS = 32;
        private static final int[] NONE = {};

        private final MachineCode code;
        private final NavigableMap<Long, Range> owners;
        private final Map<String, Block> blocks = new HashMap<>();
        private final List<Block> all = new ArrayList<>();
        private final CompletableFuture<List<ExecutedBlock>> result = new CompletableFuture<>();
        private final long entry;
        private final long end;
        private final BlockSink sink;
        private final int[] registers = new int[CORE_REGISTERS];
        private final int[] before = new int[CORE_REGISTERS];
        private boolean hasRegisters;
        private boolean ended;
        private boolean counting;
        private long shownEnd;
        private int owner;
        private long returnTo;
        private Optional<Block> last = Optional.empty();
        private Optional<Block> pending = Optional.empty();

        /**
         * A function's instructions.
         *
         * @param end address behind the last
         * @param owner what they count for
         */
        record Range(long end, int owner) {}

        /** A block as it was translated; counts by owner. */
        private static final class Block {
            final long start;
            final int instructions;
            final long end;
            final Map<Integer, long[]> counts = new TreeMap<>();

            Block(long start, int instructions, long end) {
                this.start = start;
                this.instructions = instructions;
                this.end = end;
            }

            long[] count(int owner) {
                return counts.computeIfAbsent(owner, key -> new long[2]);
            }
        }

        /**
         * @param elf the image
         * @param owners functions by address of their first instruction; blocks elsewhere count for the function that called them
         * @param entry address at which counting begins
         * @param end address of the block before which it ends
         * @param sink is told of each block; of its registers if the log has them
         */
        BlockTrace(ElfFile elf, NavigableMap<Long, Range> owners, long entry, long end, BlockSink sink) {
            this.code = MachineCode.of(elf);
            this.owners = owners;
            this.entry = entry;
            this.end = end;
            this.sink = sink;
        }

        /** The blocks executed; complete as soon as the end was reached. */
        CompletableFuture<List<ExecutedBlock>> result() {
            return result;
        }

        /** Takes a line of QEMU's standard error; false if it is not part of the log. */
        boolean take(String line) {
            try {
                return read(line);
            } catch (NumberFormatException e) {
                return false;
            }
        }

        private boolean read(String line) {
            if (line.startsWith(EXECUTED)) {
                executed(line);
            } else if (line.startsWith(INSTRUCTION) && line.indexOf(':') > INSTRUCTION.length()) {
                shownEnd = endOf(line);
            } else if (line.startsWith(SHOWN)) {
                shownEnd = 0;
            } else if (line.startsWith(NOT_EXECUTED)) {
                pending = Optional.empty();
            } else if (line.startsWith(LAST_REGISTERS)) {
                if (ended) {
                    finish(registers);
                }
            } else if (REGISTERS.matcher(line).matches()) {
                registers(REGISTER.matcher(line));
            } else if (RISCV_REGISTERS.matcher(line).matches()) {
                registers(RISCV_REGISTER.matcher(line));
                if (ended && line.startsWith(RISCV_LAST_REGISTERS)) {
                    finish(registers);
                }
            } else {
                return line.isEmpty()
                        || OTHERS.stream().anyMatch(line::startsWith)
                        || RISCV_STATE.matcher(line).matches();
            }
            return true;
        }

        private void registers(Matcher matcher) {
            while (matcher.find()) {
                int number = Integer.parseInt(matcher.group(1));
                if (number < CORE_REGISTERS) {
                    registers[number] = Integer.parseUnsignedInt(matcher.group(2), 16);
                }
            }
            hasRegisters = true;
        }

        private void executed(String line) {
            if (result.isDone() || ended) {
                return;
            }
            int bracket = line.indexOf('[');
            int first = line.indexOf('/', bracket);
            int second = line.indexOf('/', first + 1);
            int colon = line.indexOf(':');
            if (colon < 0 || bracket < colon || second < 0) {
                return;
            }
            String place = line.substring(colon + 1, bracket).strip();
            long address = Long.parseUnsignedLong(line, first + 1, second, 16);
            if (shownEnd > address) {
                blocks.put(place, block(address, shownEnd));
                shownEnd = 0;
            }
            pending.ifPresent(this::count);
            counting |= address == entry;
            if (counting && address == end) {
                last.filter(block -> block.end != end).ifPresent(block -> block.count(owner)[1]++);
                ended = true;
                if (!hasRegisters) {
                    finish(NONE);
                }
            }
            pending = Optional.of(blocks.computeIfAbsent(place, key -> block(address, address + 1)))
                    .filter(block -> counting);
        }

        /** Ends with the registers behind the last block. */
        private void finish(int[] behind) {
            tell(behind);
            result.complete(counted());
        }

        private void tell(int[] behind) {
            last.ifPresent(block ->
                    sink.executed(owner, block.start, block.instructions, hasRegisters ? before : NONE, behind));
        }

        /** Counts the block that was shown before, now that it is known to have been executed. */
        private void count(Block block) {
            last.filter(one -> one.end != block.start).ifPresent(one -> one.count(owner)[1]++);
            tell(hasRegisters ? registers : NONE);
            System.arraycopy(registers, 0, before, 0, CORE_REGISTERS);
            if (block.start == returnTo) {
                own(0);
            }
            Optional.ofNullable(owners.floorEntry(block.start))
                    .map(Map.Entry::getValue)
                    .filter(range -> block.start < range.end())
                    .ifPresent(range -> own(range.owner()));
            block.count(owner)[0]++;
            last = Optional.of(block);
        }

        /** Enters another function. Functions that an operator calls count for it, until it returns to its caller. */
        private void own(int other) {
            if (owner == 0 && other != 0) {
                returnTo = last.map(caller -> caller.end).orElse(end);
            }
            owner = other;
        }

        /** Makes a block of a place. One that was not shown has no instructions, and its executions are missed in the sum. */
        private Block block(long address, long behind) {
            Block block = new Block(address, code.between(address, behind).size(), behind);
            all.add(block);
            return block;
        }

        /**
         * The address behind a line such as {@code 0x00000044:  f44f 0270  mov.w}. QEMU's disassembler does not know all instructions, and
         * shows the halves of others one by one.
         */
        private static long endOf(String line) {
            int colon = line.indexOf(':');
            int digit = colon + 1;
            while (digit < line.length() && line.charAt(digit) == ' ') {
                digit++;
            }
            int digits = 0;
            while (digit < line.length() && Character.digit(line.charAt(digit), 16) >= 0) {
                digits++;
                digit++;
                // A second half is behind a single space.
                boolean isHalf = digits == HALFWORD_DIGITS && digit + 1 < line.length() && line.charAt(digit) == ' ';
                digit += isHalf ? 1 : 0;
            }
            return Long.parseUnsignedLong(line, INSTRUCTION.length(), colon, 16) + digits / 2;
        }

        private List<ExecutedBlock> counted() {
            List<ExecutedBlock> counted = new ArrayList<>();
            for (Block block : all) {
                block.counts.forEach((key, count) -> {
                    if (count[0] > 0) {
                        counted.add(new ExecutedBlock(key, block.start, block.instructions, count[0], count[1]));
                    }
                });
            }
            return List.copyOf(counted);
        }
    }
}
