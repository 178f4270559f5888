// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.WholeFiles;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Symbol;
import io.kiln.bench.Disassembly.Tally;
import io.kiln.cycles.BlockSink.ExecutedBlock;
import io.kiln.cycles.CycleEstimator;
import io.kiln.cycles.CycleEstimator.CycleEstimate;
import io.kiln.cycles.CycleEstimator.CycleEstimate.Cost;
import io.kiln.cycles.core.CoreTables;
import io.kiln.cycles.core.CycleRange;
import io.kiln.device.emulator.Emulator.QemuLine;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.reference.GoldenModels;
import io.kiln.toolchain.board.Emulation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * One execution of a bench image in QEMU, all cases, with the plugin that counts.
 *
 * @param instructions of the last case's run, from the first of {@code tvmgen_<name>_run} to its return
 * @param ticks of the image's own clock around it
 * @param stack deepest of all cases, in bytes
 * @param bitExact whether all outputs are the golden ones
 * @param tallies index 0: the entry point and the main function, then one for each operator
 * @param cycles estimated, likewise
 */
record BenchRun(
        long instructions, long ticks, long stack, boolean bitExact, List<Tally> tallies, CycleEstimate cycles) {
    private static final Duration LIMIT = Duration.ofMinutes(5);

    /**
     * Runs an image.
     *
     * @param golden folder with {@code input_<k>.bin} and {@code output_<k>.bin}
     * @param plugin the compiled plugin
     */
    static BenchRun of(BenchImage image, Path golden, int cases, Path plugin) {
        Path folder = image.folder();
        WholeFiles.write(folder.resolve("input.bin"), concatenated(golden, "input_", cases));
        WholeFiles.write(folder.resolve("functions.txt"), functions(image));
        Emulation.Qemu qemu = (Emulation.Qemu) image.board().emulation();
        String counting = plugin.toAbsolutePath() + ",functions=functions.txt,out=counts.txt";
        List<String> line = QemuLine.of(qemu, "bench.elf")
                .withoutConsole()
                .semihosting(true)
                .with(List.of("-icount", "shift=0,sleep=off", "-plugin", counting))
                .words();
        ProcessResult result = ProcessRunner.run(Command.ofLine(line).in(folder).within(LIMIT));
        if (!result.succeeded()) {
            throw new IllegalStateException(String.join(" ", line) + " in " + folder + ": code " + result.exitCode()
                    + (result.timedOut() ? " (out of time)" : "") + "\n" + result.message());
        }
        return read(image, golden, cases);
    }

    /** Cycles of the entry point and the main function, or of an operator. */
    CycleRange cycles(int tally) {
        List<Cost> owners = cycles.owners();
        return tally < owners.size() ? owners.get(tally).cycles() : CycleRange.NONE;
    }

    private static BenchRun read(BenchImage image, Path golden, int cases) {
        ByteBuffer report =
                ByteBuffer.wrap(bytes(image.folder().resolve("report.bin"))).order(ByteOrder.LITTLE_ENDIAN);
        long stack = 0;
        long ticks = 0;
        boolean good = report.capacity() == 12 * cases;
        for (int k = 0; good && k < cases; k++) {
            good &= report.getInt(12 * k) == 0;
            ticks = Integer.toUnsignedLong(report.getInt(12 * k + 4));
            stack = Math.max(stack, Integer.toUnsignedLong(report.getInt(12 * k + 8)));
        }
        Bytes expected = Bytes.wrap(concatenated(golden, "output_", cases));
        Bytes actual = Bytes.wrap(bytes(image.folder().resolve("output.bin")));
        good &= GoldenModels.agree(expected, actual, GoldenModels.outputs(image.metadata()));
        List<String> counts = lines(image.folder().resolve("counts.txt"));
        Disassembly code = Disassembly.of(image);
        int operators = image.metadata().operators().size();
        List<Tally> tallies = code.tally(counts.subList(1, counts.size()), operators + 1);
        WholeFiles.write(image.folder().resolve("listing.txt"), String.join("\n", code.listing()) + "\n");
        CycleEstimate cycles = CycleEstimator.estimate(
                ElfFile.read(image.elf()),
                counts.stream().skip(1).map(BenchRun::block).toList(),
                CoreTables.require(image.cpu()));
        return new BenchRun(
                Long.parseLong(counts.get(0).substring("total ".length())), ticks, stack, good, tallies, cycles);
    }

    /** A line as the plugin writes it. */
    private static ExecutedBlock block(String line) {
        String[] words = line.split(" ", -1);
        return new ExecutedBlock(
                Integer.parseInt(words[0]),
                Long.parseLong(words[1], 16),
                Integer.parseInt(words[2]),
                Long.parseLong(words[3]),
                Long.parseLong(words[4]));
    }

    /** The plugin's file: where which function lies. */
    private static String functions(BenchImage image) {
        List<Symbol> symbols = ElfFile.read(image.elf()).symbols().stream()
                .filter(s -> s.isFunction() && s.size() > 0)
                .toList();
        String prefix = new InterfaceNames(image.metadata().name()).prefix();
        List<String> lines = new ArrayList<>(range(symbols, prefix + "_run", 0));
        if (lines.isEmpty()) {
            throw new IllegalStateException("no " + prefix + "_run in " + image.elf());
        }
        lines.addAll(range(symbols, prefix + "___tvm_main__", 0));
        List<OperatorInfo> operators = image.metadata().operators();
        for (int i = 0; i < operators.size(); i++) {
            lines.addAll(range(symbols, operators.get(i).name(), i + 1));
        }
        return String.join("\n", lines) + "\n";
    }

    private static List<String> range(List<Symbol> symbols, String name, int index) {
        // A compiler may call a specialised copy, named with a dot and what it did.
        return symbols.stream()
                .filter(s -> s.name().equals(name) || s.name().startsWith(name + "."))
                .map(s -> Long.toHexString(s.value() & ~1L) + " " + Long.toHexString((s.value() & ~1L) + s.size()) + " "
                        + index)
                .distinct()
                .collect(Collectors.toList());
    }

    private static byte[] concatenated(Path folder, String prefix, int cases) {
        ByteBuffer all = ByteBuffer.allocate(1 << 24);
        for (int k = 0; k < cases; k++) {
            all.put(bytes(folder.resolve(prefix + k + ".bin")));
        }
        return Arrays.copyOf(all.array(), all.position());
    }

    private static byte[] bytes(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
