// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ArtifactSet;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Bytes;
import io.kiln.base.Optimize;
import io.kiln.base.WholeFiles;
import io.kiln.bench.BenchData.Core;
import io.kiln.bench.BenchImage.Setting;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.tflite.write.TfliteMaker;
import io.kiln.ir.Function;
import io.kiln.quantize.QuantizeOptions;
import io.kiln.quantize.QuantizeOptions.QuantizeMode;
import io.kiln.quantize.Quantizer;
import io.kiln.quantize.run.Runs;
import io.kiln.quantize.sample.Sample;
import io.kiln.reference.Interpreter;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.board.Emulation;
import io.kiln.toolchain.compiler.TestToolchains;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Forests take no more cycles, up to a hundredth, and no more flash than nested conditions on floats, the C that other generators write, compiled with the same
 * flags and with the same answers. {@code -Dkiln.trees=all} measures all forests, cores and toolchains and prints the table of the
 * documentation.
 */
class NestedTreesTest {
    private static final boolean ARE_ALL = "all".equals(System.getProperty("kiln.trees"));
    private static final int CASES = 3;

    /** Where both compare floats, as in the forest of 10 trees, compilers order the same comparisons a little differently. */
    private static final double EQUAL = 1.01;

    private static final Pattern OPERATOR = Pattern.compile(
            "__attribute__\\(\\(noinline\\)\\) (int32_t tvmgen_forest_fused_ml_tree_ensemble\\([^)]*\\)) \\{");

    /** The tables and functions of the operator that is replaced stay in the file, unused. */
    private static final String UNUSED = """
        #pragma GCC diagnostic ignored "-Wunused-function"
        #pragma GCC diagnostic ignored "-Wunused-const-variable"
        """;

    @TempDir
    private static Path shared;

    /** A line of the table. */
    record Line(String core, int trees, String toolchain) {}

    /** What computes a forest. */
    private enum Form {
        KILN,
        NESTED,
        /** Kiln, with votes of 8 bits. */
        QUANTIZED
    }

    /** Estimated cycles of an inference, and bytes of flash. */
    private record Cost(long cycles, long flash) {}

    static Stream<Line> lines() {
        List<Line> few = List.of(new Line("M4F", 10, "gnu"), new Line("M0", 10, "clang"), new Line("RV32", 10, "gnu"));
        return !ARE_ALL
                ? few.stream()
                : Stream.of("M4F", "RV32", "M0")
                        .flatMap(core -> Stream.of(10, 50, 100)
                                .flatMap(
                                        trees -> Stream.of("gnu", "clang").map(tools -> new Line(core, trees, tools))));
    }

    @ParameterizedTest
    @MethodSource("lines")
    void costsNoMoreThanNestedConditions(Line line) {
        Core core = BenchData.load().cores().get(line.core);
        String target = BenchImage.target(core);
        TestToolchains.resolve(line.toolchain, target);
        BenchTest.needs(((Emulation.Qemu) Boards.builtIn().find(core.board()).emulation()).program());
        NestedTrees forest = NestedTrees.of(line.trees);
        Cost speed = cost(line, core, forest, Optimize.SPEED, Form.KILN);
        Cost nested = cost(line, core, forest, Optimize.SPEED, Form.NESTED);
        Cost size = cost(line, core, forest, Optimize.SIZE, Form.KILN);
        Cost nestedSmall = cost(line, core, forest, Optimize.SIZE, Form.NESTED);
        Cost quantized = cost(line, core, forest, Optimize.SIZE, Form.QUANTIZED);
        if (System.getProperty("kiln.trees") != null) {
            System.out.printf(
                    Locale.ROOT,
                    "| %d (%,d) | %s | %s | %,d | %,d | %,d | %,d | %,d | %,d | %,d | %,d | %,d | %,d |%n",
                    line.trees,
                    forest.splits(),
                    line.core,
                    line.toolchain,
                    nested.cycles,
                    speed.cycles,
                    nested.flash,
                    speed.flash,
                    nestedSmall.cycles,
                    size.cycles,
                    nestedSmall.flash,
                    size.flash,
                    quantized.cycles,
                    quantized.flash);
        }
        assertThat((double) speed.cycles).isLessThanOrEqualTo(EQUAL * nested.cycles);
        assertThat(speed.flash).isLessThanOrEqualTo(nested.flash);
        assertThat(size.flash).isLessThanOrEqualTo(nestedSmall.flash);
        assertThat(quantized.flash).isLessThan(size.flash);
    }

    private static Cost cost(Line line, Core core, NestedTrees forest, Optimize optimize, Form form) {
        String name = line.core + line.trees + line.toolchain + optimize.text() + form;
        Path folder = shared.resolve(name);
        Function real = OnnxFrontend.read(forest.model(), "forest.onnx", "forest", InputShapes.NONE);
        Function function = form == Form.QUANTIZED ? quantized(real, forest) : real;
        for (int k = 0; k < CASES; k++) {
            Bytes input = forest.input(k);
            WholeFiles.write(folder.resolve("input_" + k + ".bin"), input.toArray());
            Bytes answer = Interpreter.run(function, List.of(input)).get(0);
            WholeFiles.write(folder.resolve("output_" + k + ".bin"), answer.toArray());
        }
        CompileRequest request = RequestDraft.of(Path.of("forest.onnx"), BenchImage.target(core))
                .name("forest")
                .optimize(optimize)
                .build();
        var library = ModelCompiler.compile(request, function).library();
        ArtifactSet artifacts = form == Form.NESTED ? nested(library.artifacts(), forest) : library.artifacts();
        BenchImage image = BenchImage.build(
                folder, library.metadata(), artifacts, core, new Setting(line.toolchain, optimize, Io.CALLER), CASES);
        BenchRun run = BenchRun.of(image, folder, CASES, Bench.plugin(folder));
        assertThat(run.bitExact()).as(name).isTrue();
        return new Cost(run.cycles().whole().cycles().expected(), image.section(".text") + image.section(".rodata"));
    }

    private static Function quantized(Function real, NestedTrees forest) {
        List<Sample> samples = IntStream.range(0, CASES)
                .mapToObj(k -> new Sample("sample " + k, List.of(forest.input(k))))
                .toList();
        return new Quantizer(new TfliteMaker("forest"), Runs.Progress.NONE)
                .quantize(real, samples, QuantizeOptions.of(QuantizeMode.INT8))
                .network()
                .function();
    }

    /** The same archive, whose operator is nested conditions. */
    private static ArtifactSet nested(ArtifactSet artifacts, NestedTrees forest) {
        List<Artifact> all = new ArrayList<>();
        for (Artifact each : artifacts.artifacts()) {
            String text = each.kind() == ArtifactKind.SOURCE ? each.content().text() : "";
            Matcher operator = OPERATOR.matcher(text);
            if (operator.find()) {
                String other = UNUSED
                        + text.substring(0, operator.start())
                        + forest.nested(operator.group(1))
                        + text.substring(text.indexOf("\n}\n", operator.end()) + 3);
                all.add(new Artifact(
                        each.codegenId(), each.loader(), each.fileName(), Bytes.ofText(other), each.targetKey()));
            } else {
                all.add(each);
            }
        }
        assertThat(all).isNotEqualTo(artifacts.artifacts());
        return new ArtifactSet(all);
    }
}
