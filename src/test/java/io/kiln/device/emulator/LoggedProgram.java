// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Symbol;
import io.kiln.cycles.BlockSink;
import io.kiln.cycles.BlockSink.ExecutedBlock;
import io.kiln.device.emulator.Emulator.QemuLine;
import io.kiln.device.emulator.FunctionCounter.BlockTrace;
import io.kiln.device.emulator.FunctionCounter.BlockTrace.Range;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.toolchain.board.Emulation;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

/** The blocks that the first call of a function executes in a program that ends by itself, from a file that QEMU logs to. */
public final class LoggedProgram {
    private static final Duration LIMIT = Duration.ofMinutes(10);

    private LoggedProgram() {}

    /**
     * Runs a program in its folder.
     *
     * @param function whose first call is followed
     * @param operators names of functions; blocks of operator {@code i} have the owner {@code i + 1}
     * @param sink is told of each block
     */
    public static List<ExecutedBlock> blocks(
            Emulation.Qemu qemu, Path image, String function, List<String> operators, BlockSink sink) {
        Path log = image.resolveSibling("blocks.log");
        List<String> line = QemuLine.of(qemu, image.getFileName().toString())
                .withoutConsole()
                .semihosting(true)
                .with(List.of("-icount", "shift=0,sleep=off", "-d", "exec,in_asm,nochain,cpu", "-D", log.toString()))
                .words();
        ProcessResult result =
                ProcessRunner.run(Command.ofLine(line).in(image.getParent()).within(LIMIT));
        if (!result.succeeded()) {
            throw new IllegalStateException(String.join(" ", line) + ": " + result.message());
        }
        ElfFile elf = ElfFile.read(image);
        NavigableMap<Long, Range> owners = new TreeMap<>();
        for (int i = 0; i < operators.size(); i++) {
            int owner = i + 1;
            InstructionCounter.symbols(elf, operators.get(i)).forEach(symbol -> own(owners, symbol, owner));
        }
        long entry = InstructionCounter.symbols(elf, function)
                .map(symbol -> symbol.value() & ~1L)
                .findFirst()
                .orElseThrow();
        try {
            BlockTrace trace = new BlockTrace(elf, owners, entry, returnAddress(log, entry), sink);
            try (BufferedReader lines = Files.newBufferedReader(log)) {
                for (String one = lines.readLine();
                        one != null && !trace.result().isDone();
                        one = lines.readLine()) {
                    trace.take(one);
                }
            }
            Files.delete(log);
            return trace.result().getNow(List.of());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void own(NavigableMap<Long, Range> owners, Symbol symbol, int owner) {
        long start = symbol.value() & ~1L;
        owners.put(start, new Range(start + symbol.size(), owner));
    }

    /** What the link register holds at the first block of a function. */
    private static long returnAddress(Path log, long entry) throws IOException {
        String begin = "/" + String.format(java.util.Locale.ROOT, "%08x", entry) + "/";
        try (BufferedReader lines = Files.newBufferedReader(log)) {
            boolean found = false;
            for (String one = lines.readLine(); one != null; one = lines.readLine()) {
                found |= one.startsWith("Trace ") && one.contains(begin);
                int link = one.indexOf("R14=");
                if (found && link >= 0) {
                    return Long.parseLong(one.substring(link + 4, link + 12), 16) & ~1L;
                }
            }
        }
        throw new IllegalStateException("not called: " + begin);
    }
}
