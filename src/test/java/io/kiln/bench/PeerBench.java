// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.ModelMetadata.RamCopies;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.Optimize;
import io.kiln.base.WholeFiles;
import io.kiln.base.elf.ElfFile;
import io.kiln.bench.BenchData.Core;
import io.kiln.bench.BenchImage.Setting;
import io.kiln.compile.CompileOptions.RamOptions;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.GreedyArena;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.cycles.BlockSink.ExecutedBlock;
import io.kiln.cycles.CycleEstimator;
import io.kiln.cycles.CycleEstimator.CycleEstimate;
import io.kiln.cycles.MemoryTrace;
import io.kiln.cycles.core.CoreTables;
import io.kiln.cycles.core.CoreTimings;
import io.kiln.device.emulator.LoggedProgram;
import io.kiln.firmware.FirmwareRequest.BroughtSources;
import io.kiln.flow.build.CmsisNnSources;
import io.kiln.flow.spec.CompilerSpec.CodegenSpec;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.onnx.network.Transformers;
import io.kiln.frontend.tflite.MadeUpNetworks;
import io.kiln.frontend.tflite.write.TfliteMaker;
import io.kiln.ir.Function;
import io.kiln.quantize.FloatNet;
import io.kiln.quantize.QuantizeOptions;
import io.kiln.quantize.QuantizeOptions.QuantizeMode;
import io.kiln.quantize.Quantizer;
import io.kiln.quantize.run.Runs;
import io.kiln.reference.SharedFolder;
import io.kiln.toolchain.board.Emulation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/**
 * Networks as Kiln builds them for a NUCLEO-L4R5ZI with a single bank of flash, beside the same with the functions of
 * CMSIS-NN where it has any: {@code src/test/bench.sh --peer FOLDER [--gnu] [--per-operator] [name]...}, the folder being CMSIS-NN's with {@code Include} and
 * {@code Source}, names being those of {@code rows.yaml}, of {@linkplain MadeUpNetworks made-up networks}, or {@code transformer}. Both answer
 * the same, or it says so. RAM is what inputs, outputs, tensors between layers and scratch take: of the peer in an arena that is planned
 * greedily. Copies in RAM of what flash is slow with are beside it.
 */
public final class PeerBench {
    private static final String GNU = "gnu";
    private static final String TRANSFORMER = "transformer";
    private static final Map<String, byte[]> MADE_UP = MadeUpNetworks.all();

    private final BenchData data = BenchData.load();
    private final Path cmsisNn;
    private final String toolchain;
    private final boolean perOperator;

    private PeerBench(Path cmsisNn, List<String> options) {
        this.cmsisNn = cmsisNn;
        this.toolchain = options.contains("--gnu") ? GNU : "clang";
        this.perOperator = options.contains("--per-operator");
    }

    /** What one build of a network takes. */
    private record Cost(long cycles, long zeroWait, long flash, long ram, long copies, Bytes answer) {
        String against(Cost peer) {
            return String.format(
                    Locale.ROOT,
                    " %,11d | %.2f | %.2f | %,8d | %.2f | %,8d | %.2f | %,7d |%s",
                    cycles,
                    (double) cycles / peer.cycles,
                    (double) zeroWait / peer.zeroWait,
                    flash,
                    (double) flash / peer.flash,
                    ram,
                    (double) ram / peer.ram,
                    copies,
                    answer.equals(peer.answer) ? "" : " answers differ");
        }
    }

    /** Prints a row for each network and toolchain. */
    public static void main(String[] args) {
        List<String> names = new ArrayList<>(List.of(args));
        Path cmsisNn = Path.of(names.remove(0)).toAbsolutePath();
        PeerBench bench = new PeerBench(cmsisNn, names);
        names.removeIf(word -> word.startsWith("--"));
        if (names.isEmpty()) {
            names.addAll(List.of("kws", "vww", "resnet", "ad"));
            names.addAll(MADE_UP.keySet());
            names.add(TRANSFORMER);
        }
        System.out.println(
                "| network | toolchain | board cycles | of peer's | zero-wait | flash | of peer's | RAM | of peer's |"
                        + " copies |");
        names.forEach(bench::print);
    }

    private void print(String name) {
        Core own = data.cores().get("M4F1K");
        String host = BenchImage.target(own);
        Core both = new Core(own.board(), "cmsis-nn -version=7.0.0, " + host, own.instructionsPerTick(), "");
        Cost peer = cost(name, both, GNU);
        System.out.printf(Locale.ROOT, "| %s | CMSIS-NN |%s%n", name, peer.against(peer));
        Cost cost = cost(name, own, toolchain);
        System.out.printf(Locale.ROOT, "| %s | %s |%s%n", name, toolchain, cost.against(peer));
    }

    private Path golden(String name) {
        return SharedFolder.ROOT.resolve("golden").resolve(data.models().getOrDefault(name, name));
    }

    private CompiledModel compile(String name, RequestDraft draft) {
        if (!name.equals(TRANSFORMER)) {
            return ModelCompiler.compile(draft.build());
        }
        Function floats = OnnxFrontend.read(Transformers.encoder(3), "m.onnx", name, InputShapes.NONE);
        return ModelCompiler.compile(
                draft.build(),
                new Quantizer(new TfliteMaker("m.tflite"), Runs.Progress.NONE)
                        .quantize(floats, FloatNet.samples(floats, 6, 1), QuantizeOptions.of(QuantizeMode.INT8))
                        .function());
    }

    private Path model(String name, Path folder) {
        if (!MADE_UP.containsKey(name)) {
            return golden(name).resolve("model.tflite");
        }
        Path file = folder.resolve(name + ".tflite");
        WholeFiles.write(file, MADE_UP.get(name));
        return file;
    }

    private Cost cost(String name, Core core, String toolchain) {
        boolean isPeer = core.target().startsWith("cmsis-nn");
        Path folder = Path.of("target", "bench", "peer-" + name + "-" + (isPeer ? "cmsis-nn" : toolchain))
                .toAbsolutePath();
        Setting setting = new Setting(toolchain, Optimize.SPEED, Io.WORKSPACE);
        RequestDraft draft =
                RequestDraft.of(model(name, folder), core.target()).name(name).io(Io.WORKSPACE);
        CompiledModel compiled = compile(
                name,
                isPeer
                        ? draft
                        : draft.ram(MemoryBench.spare("nucleo-l4r5zi"), RamOptions.AUTO)
                                .records(BenchImage.shipped(core.target(), setting)));
        BroughtSources library =
                CmsisNnSources.of(new CodegenSpec(Optional.empty(), Optional.of(cmsisNn)), List.of(compiled.library()));
        BenchImage image = BenchImage.build(
                folder, compiled.library().metadata(), compiled.library().artifacts(), library, core, setting, 1);
        return measured(
                image,
                input(name, image),
                isPeer
                        ? GreedyArena.bytes(compiled.module())
                        : compiled.module().layout().plan().bytes());
    }

    private byte[] input(String name, BenchImage image) {
        byte[] drawn = new byte[(int) image.metadata().inputs().get(0).bytes()];
        new Random(1).nextBytes(drawn);
        return MADE_UP.containsKey(name) || name.equals(TRANSFORMER)
                ? drawn
                : bytes(golden(name).resolve("input_0.bin"));
    }

    private Cost measured(BenchImage image, byte[] input, long ram) {
        WholeFiles.write(image.folder().resolve("input.bin"), input);
        ElfFile elf = ElfFile.read(image.elf());
        CoreTimings timings = CoreTables.require(image.cpu());
        List<OperatorInfo> operators = image.metadata().operators();
        MemoryTrace trace = new MemoryTrace(elf, elf, timings, List.of(MemoryBench.singleBank(image.board())));
        List<ExecutedBlock> blocks = LoggedProgram.blocks(
                (Emulation.Qemu) image.board().emulation(),
                image.elf(),
                new InterfaceNames(image.metadata().name()).run(),
                operators.stream().map(OperatorInfo::name).toList(),
                trace);
        CycleEstimate estimate = CycleEstimator.estimate(elf, blocks, timings);
        long free = estimate.whole().cycles().expected();
        if (perOperator) {
            for (int i = 0; i < operators.size(); i++) {
                System.out.printf(
                        Locale.ROOT,
                        "    %-60s %,11d + %,9d fetch + %,9d data%n",
                        operators.get(i).name(),
                        i + 1 < estimate.owners().size()
                                ? estimate.owners().get(i + 1).cycles().expected()
                                : 0,
                        trace.stalls(0, i + 1).fetch(),
                        trace.stalls(0, i + 1).data());
            }
        }
        RamCopies copies = image.metadata().memory().copies();
        return new Cost(
                free + trace.stalls(0).fetch() + trace.stalls(0).data(),
                free,
                image.section(".text") + image.section(".rodata") + image.section(".data"),
                ram,
                copies.codeBytes() + copies.constantBytes(),
                Bytes.wrap(bytes(image.folder().resolve("output.bin"))));
    }

    private static byte[] bytes(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
