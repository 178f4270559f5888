// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.Optimize;
import io.kiln.base.WholeFiles;
import io.kiln.base.elf.ElfFile;
import io.kiln.bench.BenchData.Core;
import io.kiln.bench.BenchImage.Setting;
import io.kiln.cycles.BlockSink.ExecutedBlock;
import io.kiln.cycles.CycleEstimator;
import io.kiln.cycles.MemoryTrace;
import io.kiln.cycles.MemoryTrace.Stalls;
import io.kiln.cycles.core.CoreTables;
import io.kiln.cycles.core.CoreTimings;
import io.kiln.cycles.core.CycleRange;
import io.kiln.cycles.core.CycleRange.Bound;
import io.kiln.cycles.memory.MemorySetting;
import io.kiln.cycles.memory.MemorySetting.RamCode;
import io.kiln.cycles.memory.MemorySetting.Region;
import io.kiln.cycles.memory.MemoryWait;
import io.kiln.cycles.memory.MemoryWait.Cache;
import io.kiln.cycles.memory.MemoryWait.DataCache;
import io.kiln.device.emulator.LoggedProgram;
import io.kiln.flow.resolve.BoardPools;
import io.kiln.frontend.tflite.MadeUpNetworks;
import io.kiln.reference.SharedFolder;
import io.kiln.target.SpareRam;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Board.Kind;
import io.kiln.toolchain.board.Board.Memory;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.board.Emulation;
import io.kiln.tuning.task.Objective.Metric;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/**
 * Cycles of whole models on boards with flash that waits, from the same executed blocks: {@code src/test/bench.sh --boards [--per-operator]
 * [--clang] [--ram[=BOARD]] [--core=NAME] [model]...}, model and core being names in {@code rows.yaml}, or a {@linkplain MadeUpNetworks
 * made-up network}; {@code --ram} copies to RAM what a NUCLEO-L4R5ZI does, or another board. The blocks run on a Cortex-M4, or on a
 * Cortex-M7 with its boards ({@code --core=M7F4K} or {@code M7F16K}); the image's own addresses stand for those of the board.
 */
public final class MemoryBench {
    private static final String CORE = "--core=";
    private static final String RAM = "--ram";
    private static final Map<String, byte[]> MADE_UP = MadeUpNetworks.all();

    private final BenchData data = BenchData.load();
    private final Map<String, MemorySetting> settings = new LinkedHashMap<>();
    private final Core core;
    private final List<String> options;

    private MemoryBench(List<String> options) {
        this.options = options;
        this.core = data.cores()
                .get(options.stream()
                        .filter(word -> word.startsWith(CORE))
                        .map(word -> word.substring(CORE.length()))
                        .findFirst()
                        .orElse("M4F"));
        if (core.board().equals("mps2-an500")) {
            for (String board : List.of("nucleo-f746zg", "nucleo-h743zi")) {
                for (Bound bound : Bound.values()) {
                    String title = board + ", " + bound.name().toLowerCase(Locale.ROOT);
                    settings.put(title, setting(wait(board, "flash"), bound));
                }
            }
        } else {
            addArt();
        }
    }

    /** Boards whose flash has a small cache. */
    private void addArt() {
        MemoryWait dual = wait("nucleo-l4r5zi", "flash");
        MemoryWait single = wide(dual);
        add("L4R5 dual, 5 WS", with(dual, 5, true));
        add("L4R5 dual, 5 WS, no prefetch", with(dual, 5, false));
        add("L4R5 single, 5 WS", with(single, 5, true));
        add("L4R5 single, 5 WS, no prefetch", with(single, 5, false));
        add("L4R5 dual, 3 WS", with(dual, 3, true));
        add("F4, 168 MHz, 5 WS", wait("stm32f4-discovery", "flash"));
        add("U575, 7 a miss", wait("b-u585i-iot02a", "flash"));
        settings.put("U575, 4 a miss", setting(wait("b-u585i-iot02a", "flash"), Bound.LOW));
        settings.put("L4R5 dual, low", setting(with(dual, 5, true), Bound.LOW));
        settings.put("L4R5 dual, high", setting(with(dual, 5, true), Bound.HIGH));
        MemorySetting both = setting(with(dual, 5, true), Bound.EXPECTED);
        settings.put("L4R5 dual, code in RAM", both.withCode(RamCode.FAST));
        settings.put("L4R5 dual, code in system-bus RAM", both.withCode(RamCode.SLOW));
        settings.put("L4R5 dual, weights in RAM", both.withConstants());
        settings.put(
                "L4R5 single, code in RAM",
                setting(with(single, 5, true), Bound.EXPECTED).withCode(RamCode.FAST));
    }

    /** Prints a table for each model. */
    public static void main(String[] args) {
        List<String> options = new ArrayList<>(List.of(args));
        List<String> models =
                options.stream().filter(word -> !word.startsWith("--")).toList();
        MemoryBench cycles = new MemoryBench(options);
        (models.isEmpty() ? List.of("kws", "vww", "resnet", "ad") : models).forEach(cycles::print);
    }

    private static MemoryWait wait(String board, String memory) {
        return Boards.builtIn()
                .find(board)
                .memory(memory)
                .flatMap(Memory::waits)
                .orElseThrow();
    }

    private static MemoryWait with(MemoryWait wait, int states, boolean prefetch) {
        return new MemoryWait(states, wait.lineBytes(), prefetch, wait.fetch(), wait.data(), wait.missCycles());
    }

    private static MemoryWait wide(MemoryWait wait) {
        return new MemoryWait(
                wait.states(),
                2 * wait.lineBytes(),
                wait.prefetch(),
                wait.fetch().map(MemoryBench::wide),
                wait.data().map(data -> new DataCache.Own(wide(((DataCache.Own) data).cache()))),
                wait.missCycles());
    }

    private static Cache wide(Cache cache) {
        return new Cache(cache.lines(), cache.lineBytes(), cache.ways(), 2 * cache.sectorBytes());
    }

    private void add(String name, MemoryWait wait) {
        settings.put(name, setting(wait, Bound.EXPECTED));
    }

    /** That of a NUCLEO-L4R5ZI with a single bank of flash, as expected, for the memories of a stand-in. */
    static MemorySetting singleBank(Board standIn) {
        return setting(standIn, with(wide(wait("nucleo-l4r5zi", "flash")), 5, true), Bound.EXPECTED);
    }

    private MemorySetting setting(MemoryWait wait, Bound bound) {
        return setting(Boards.builtIn().find(core.board()), wait, bound);
    }

    private static MemorySetting setting(Board standIn, MemoryWait wait, Bound bound) {
        List<Region> regions = standIn.memories().stream()
                .filter(memory -> memory.kind() == Kind.ROM)
                .map(memory -> new Region(memory.base(), memory.end(), Optional.of(wait), Optional.empty()))
                .toList();
        return new MemorySetting(regions, bound);
    }

    /** What the named board has to spare. */
    private SpareRam spare() {
        return options.stream()
                .filter(word -> word.startsWith(RAM))
                .findFirst()
                .map(word -> word.equals(RAM) ? "nucleo-l4r5zi" : word.substring(RAM.length() + 1))
                .map(MemoryBench::spare)
                .orElse(SpareRam.NONE);
    }

    static SpareRam spare(String board) {
        return BoardPools.of(Boards.builtIn().find(board), Map.of(), 1).spare();
    }

    private Path golden(String name) {
        return SharedFolder.ROOT.resolve("golden").resolve(data.models().getOrDefault(name, name));
    }

    private Path model(String name, Path folder) {
        if (!MADE_UP.containsKey(name)) {
            return golden(name).resolve("model.tflite");
        }
        Path file = folder.resolve(name + ".tflite");
        WholeFiles.write(file, MADE_UP.get(name));
        return file;
    }

    private void writeInput(String name, BenchImage image, Path file) {
        if (MADE_UP.containsKey(name)) {
            byte[] drawn = new byte[(int) image.metadata().inputs().get(0).bytes()];
            new Random(1).nextBytes(drawn);
            WholeFiles.write(file, drawn);
            return;
        }
        try {
            Files.copy(golden(name).resolve("input_0.bin"), file, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void print(String name) {
        Path folder = Path.of("target", "bench", "boards-" + name).toAbsolutePath();
        Setting build = new Setting(
                options.contains("--clang") ? "clang" : "gnu", Optimize.SPEED, Io.CALLER, Optional.of(Metric.CYCLES));
        BenchImage image = BenchImage.build(folder, model(name, folder), name, core, build, 1, spare());
        writeInput(name, image, folder.resolve("input.bin"));
        ElfFile elf = ElfFile.read(image.elf());
        CoreTimings timings = CoreTables.require(image.cpu());
        MemoryTrace trace = new MemoryTrace(elf, elf, timings, List.copyOf(settings.values()));
        List<OperatorInfo> operators = image.metadata().operators();
        List<ExecutedBlock> blocks = LoggedProgram.blocks(
                (Emulation.Qemu) image.board().emulation(),
                image.elf(),
                new InterfaceNames(image.metadata().name()).run(),
                operators.stream().map(OperatorInfo::name).toList(),
                trace);
        CycleRange free = CycleEstimator.estimate(elf, blocks, timings).whole().cycles();
        long zero = free.expected();
        System.out.printf(
                Locale.ROOT,
                "%s: %,d products; %,d cycles without waits (%,d to %,d); %,d loads of unknown address; %s%n",
                name,
                operators.stream().mapToLong(OperatorInfo::macs).sum(),
                zero,
                free.low(),
                free.high(),
                trace.unknownLoads(),
                image.metadata().memory().copies());
        int index = 0;
        for (String title : settings.keySet()) {
            Stalls stalls = trace.stalls(index);
            System.out.printf(
                    Locale.ROOT,
                    "  %-36s %,12d = %.2f; fetch %,11d, data %,10d%n",
                    title,
                    zero + stalls.fetch() + stalls.data(),
                    (zero + stalls.fetch() + stalls.data()) / 1e6,
                    stalls.fetch(),
                    stalls.data());
            if (options.contains("--per-operator")) {
                for (int i = 0; i < operators.size(); i++) {
                    Stalls own = trace.stalls(index, i + 1);
                    System.out.printf(
                            Locale.ROOT,
                            "      %-50s fetch %,11d, data %,10d%n",
                            operators.get(i).name(),
                            own.fetch(),
                            own.data());
                }
            }
            index++;
        }
    }
}
