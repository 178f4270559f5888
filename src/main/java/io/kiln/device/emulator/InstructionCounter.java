// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.artifact.InterfaceNames;
import io.kiln.base.Bytes;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Symbol;
import io.kiln.device.emulator.DebugStub.Architecture;
import io.kiln.device.fault.FaultWatch;
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
public record InstructionCounter(Emulator emulator, Protocol protocol) {
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
    public InstructionCounts count(Path image, String model, List<String> operators, List<Bytes> inputs) {
        requireQemu(emulator.board());
        ElfFile elf = ElfFile.read(image);
        Architecture architecture = Architecture.of(elf);
        String entry = new InterfaceNames(model).run();
        Map<String, List<Long>> functions = functions(elf, image, entry, operators);
        List<Long> entries = functions.remove(entry);
        Path folder = temporaryFolder();
        FaultWatch faults = new FaultWatch(text -> {});
        try (Transport line = new EmulatorTransport(emulator, image, emulator.start(image, sockets(folder), folder))) {
            try (MachineMonitor monitor = MachineMonitor.connect(folder.resolve(MONITOR), TO_CONNECT);
                    DebugStub stub = DebugStub.connect(folder.resolve(DEBUG), monitor, architecture, TO_CONNECT)) {
                return new Counting(protocol, line, stub, faults).count(model, entries, functions, inputs);
            } catch (KilnException e) {
                throw line.explained(faults.explained(e, image));
            }
        }
    }

    static void requireQemu(Board board) {
        if (!(board.emulation() instanceof Emulation.Qemu)) {
            throw new KilnException(new Problem(
                    "instructions cannot be counted on " + board.id(),
                    "kiln.board",
                    "a board that QEMU emulates, such as mps2-an386",
                    ""));
        }
    }

    private static Map<String, List<Long>> functions(ElfFile elf, Path image, String entry, List<String> operators) {
        Map<String, List<Long>> functions = new LinkedHashMap<>();
        Problems problems = new Problems();
        Stream.concat(Stream.of(entry), operators.stream()).forEach(name -> {
            // A compiler may call a specialised clone instead, named with a dot and a suffix.
            List<Long> addresses = elf.symbols().stream()
                    .filter(Symbol::isFunction)
                    .filter(symbol ->
                            symbol.name().equals(name) || symbol.name().startsWith(name + "."))
                    .map(symbol -> symbol.value() & ~1L)
                    .distinct()
                    .toList();
            if (addresses.isEmpty()) {
                problems.add(
                        "the image has no function " + name,
                        image.toString(),
                        "an image with its symbols, whose operators were not inlined",
                        "");
            }
            functions.put(name, addresses);
        });
        problems.throwIfAny();
        return functions;
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
}
