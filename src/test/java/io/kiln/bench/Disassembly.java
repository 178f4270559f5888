// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import io.kiln.base.elf.ElfFile;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The image's instructions, by address, with how often each was executed. */
final class Disassembly {
    private static final int EM_RISCV = 243;
    private static final Pattern INSTRUCTION = Pattern.compile("\\s*([0-9a-f]+):\\t([^\\s]+)\\s*(.*)");
    private static final Pattern LOAD =
            Pattern.compile("v?ldr[a-z]*|vld\\d.*|v?ldm[a-z]*|v?pop[a-z]*|tb[bh]|lda[a-z]*|(c\\.)?l(w|h|hu|b|bu)(sp)?");
    private static final Pattern STORE =
            Pattern.compile("v?str[a-z]*|vst\\d.*|v?stm[a-z]*|v?push[a-z]*|stl[a-z]*|(c\\.)?s(w|h|b)(sp)?");
    private static final Pattern FLOATS = Pattern.compile("v(?!ldr|str|ldm|stm|push|pop|mov |mov\\.|msr)");
    private static final Pattern REGISTERS = Pattern.compile("\\{([^}]*)}");
    private static final Pattern NUMBER = Pattern.compile("([a-z]+)(\\d*)");
    private static final Pattern WIDTH = Pattern.compile("\\.(w|n|[sui]?\\d+)$");
    private static final Pattern VECTOR_ACCESS = Pattern.compile("v(ld|st)\\d.*");

    private final NavigableMap<Long, String> text = new TreeMap<>();
    private final List<String> lines;
    private final NavigableMap<Long, Long> counts = new TreeMap<>();

    private Disassembly(List<String> lines) {
        this.lines = lines;
        for (String line : lines) {
            Matcher matcher = INSTRUCTION.matcher(line);
            if (matcher.matches()) {
                text.put(Long.parseLong(matcher.group(1), 16), matcher.group(2) + " " + matcher.group(3));
            }
        }
    }

    /**
     * What some code executed.
     *
     * @param instructions all
     * @param loads words or smaller items that cores without vectors load one by one: each register of a multiple load counts; a vector
     *     load counts once
     * @param stores likewise
     * @param taken branches, calls and returns that did not fall through
     */
    record Tally(long instructions, long loads, long stores, long taken) {
        Tally plus(Tally other) {
            return new Tally(
                    instructions + other.instructions, loads + other.loads, stores + other.stores, taken + other.taken);
        }
    }

    static Disassembly of(BenchImage image) {
        boolean riscv = ElfFile.read(image.elf()).machine() == EM_RISCV;
        Path out = image.folder().resolve("objdump.txt");
        // GNU objdump does not see from Clang's objects that there is MVE; older instructions all have the same
        // encoding.
        List<String> line = riscv
                ? List.of("riscv64-unknown-elf-objdump", "-d", "--no-show-raw-insn", "bench.elf")
                : List.of("arm-none-eabi-objdump", "-d", "-m", "armv8.1-m.main", "--no-show-raw-insn", "bench.elf");
        ProcessResult result =
                ProcessRunner.run(Command.ofLine(line).in(image.folder()).loggingTo(out));
        if (!result.succeeded()) {
            throw new IllegalStateException(result.message());
        }
        return new Disassembly(BenchRun.lines(out));
    }

    /** Instructions with which Arm's floating-point unit computes; others of it move data. */
    List<String> computingFloats() {
        return text.values().stream()
                .filter(instruction -> FLOATS.matcher(instruction).lookingAt())
                .toList();
    }

    /** Sums by function of lines as the plugin writes them. */
    List<Tally> tally(List<String> blocks, int functions) {
        List<Tally> tallies = new ArrayList<>();
        for (int i = 0; i < functions; i++) {
            tallies.add(new Tally(0, 0, 0, 0));
        }
        for (String line : blocks) {
            String[] words = line.split(" ", -1);
            int function = Integer.parseInt(words[0]);
            long count = Long.parseLong(words[3]);
            Tally sum = new Tally(0, 0, 0, Long.parseLong(words[4]));
            int n = Integer.parseInt(words[2]);
            var from = text.tailMap(Long.parseLong(words[1], 16)).entrySet();
            for (Map.Entry<Long, String> instruction : from) {
                if (n-- == 0) {
                    break;
                }
                long items = items(instruction.getValue());
                String mnemonic = mnemonic(instruction.getValue());
                sum = sum.plus(new Tally(
                        count,
                        LOAD.matcher(mnemonic).matches() ? count * items : 0,
                        STORE.matcher(mnemonic).matches() ? count * items : 0,
                        0));
                counts.merge(instruction.getKey(), count, Long::sum);
            }
            tallies.set(function, tallies.get(function).plus(sum));
        }
        return tallies;
    }

    /** The disassembly with how often each instruction was executed; functions of which nothing was are left out. */
    List<String> listing() {
        List<String> all = new ArrayList<>();
        List<String> function = new ArrayList<>();
        boolean ran = false;
        for (String line : lines) {
            Matcher matcher = INSTRUCTION.matcher(line);
            if (matcher.matches()) {
                long count = counts.getOrDefault(Long.parseLong(matcher.group(1), 16), 0L);
                ran |= count > 0;
                function.add(String.format(Locale.ROOT, "%12s %s", count == 0 ? "" : count, line.strip()));
            } else if (line.endsWith(">:")) {
                all.addAll(ran ? function : List.of());
                function = new ArrayList<>(List.of("", line));
                ran = false;
            }
        }
        all.addAll(ran ? function : List.of());
        return all;
    }

    private static String mnemonic(String instruction) {
        return WIDTH.matcher(instruction.substring(0, instruction.indexOf(' '))).replaceAll("");
    }

    /** How many registers a load or store moves. */
    static long items(String instruction) {
        String mnemonic = mnemonic(instruction);
        Matcher list = REGISTERS.matcher(instruction);
        if (mnemonic.startsWith("ldrd") || mnemonic.startsWith("strd")) {
            return 2;
        }
        if (VECTOR_ACCESS.matcher(mnemonic).matches() || !list.find()) {
            return 1;
        }
        long items = 0;
        for (String part : list.group(1).split(",", -1)) {
            String[] ends = part.strip().split("-", -1);
            items += ends.length == 1 ? 1 : number(ends[1]) - number(ends[0]) + 1;
        }
        return list.group(1).startsWith("d") ? 2 * items : items;
    }

    private static int number(String register) {
        Matcher matcher = NUMBER.matcher(register);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("no register: " + register);
        }
        return switch (matcher.group(1)) {
            case "sl" -> 10;
            case "fp" -> 11;
            case "ip" -> 12;
            default -> Integer.parseInt(matcher.group(2));
        };
    }
}
