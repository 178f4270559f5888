// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Symbol;
import io.kiln.device.emulator.DebugStub.Architecture;
import io.kiln.device.emulator.DebugStub.Stop;
import io.kiln.process.RunningProcess;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

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
}
