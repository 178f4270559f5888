// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.base.DrawnCases;
import io.kiln.base.Log;
import io.kiln.flow.Flow;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.CompilerSpec.CodegenSpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.frontend.tflite.LittleEndian;
import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.TensorSpec;
import io.kiln.partition.CmsisNnStandIn;
import io.kiln.process.ProcessRunner.Executables;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.TensorType;

/**
 * Random layers whose functions CMSIS-NN has for cores with vectors or DSP instructions, in one image for each core: convolutions of rows,
 * which have functions of their own, and convolutions with padding that is stated.
 */
class CmsisNnLayersInQemuTest {
    private static final int CASES = DrawnCases.atLeast(6);

    /** One row of pixels; four channels, or as many as stride and channels together make a multiple of four. */
    private static final OperatorCases ROW = OperatorCases.of("ROW", d -> {
        int stride = d.between(1, 4);
        int depth = d.oneOf(4, 8 / Integer.highestOneBit(stride));
        int taps = d.between(2, 9);
        int width = d.between(taps, 20);
        byte padding = d.oneOf(Options.SAME, Options.VALID);
        int outputs = ((padding == Options.SAME ? width : width - taps + 1) + stride - 1) / stride;
        int channels = d.between(1, 5);
        TensorSpec x = d.tensor(TensorType.INT8, d.between(1, 2), 1, width, depth);
        TensorSpec weights = d.weights(TensorType.INT8, 0, channels, 1, taps, depth);
        int[] in = {d.input(x), d.add(weights), d.add(d.bias(x, weights, channels))};
        d.output(LayerOperators.scaled(d, x, weights, taps * depth, x.shape().get(0), 1, outputs, channels));
        d.operator(BuiltinOperator.CONV_2D, 3, Options.conv2d(padding, 1, stride, d.activation(), 1, 1), in);
    });

    /** Padding before a convolution, of up to two pixels at each side. */
    private static final OperatorCases PADDED = OperatorCases.of("PADDED", d -> {
        int taps = d.oneOf(1, 3, 5);
        int left = d.between(0, 1);
        int right = left + d.between(0, 1);
        int height = d.between(5, 7);
        int width = d.between(5, 7);
        int depth = d.between(2, 5);
        TensorSpec x = d.tensor(TensorType.INT8, 1, height, width, depth);
        int in = d.input(x);
        int pads = d.add(TensorSpec.of("pads", TensorType.INT32, 4, 2)
                .withData(LittleEndian.ofInts(0, 0, left, right, left, right, 0, 0)));
        int padded = d.add(d.like(x, 1, height + left + right, width + left + right, depth));
        d.model().operator(BuiltinOperator.PAD, 1, Options.none(), new int[] {in, pads}, new int[] {padded});
        boolean isDepthwise = d.coin();
        TensorSpec weights = isDepthwise
                ? d.weights(TensorType.INT8, 3, 1, taps, taps, depth)
                : d.weights(TensorType.INT8, 0, 3, taps, taps, depth);
        int channels = isDepthwise ? depth : 3;
        int[] more = {padded, d.add(weights), d.add(d.bias(x, weights, channels))};
        int stride = d.between(1, 2);
        d.output(LayerOperators.scaled(
                d,
                x,
                weights,
                taps * taps * depth,
                1,
                (height + left + right - taps) / stride + 1,
                (width + left + right - taps) / stride + 1,
                channels));
        d.operator(
                isDepthwise ? BuiltinOperator.DEPTHWISE_CONV_2D : BuiltinOperator.CONV_2D,
                3,
                isDepthwise
                        ? Options.depthwise(Options.VALID, stride, stride, 1, d.activation(), 1, 1)
                        : Options.conv2d(Options.VALID, stride, stride, d.activation(), 1, 1),
                more);
    });

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({
        "mps2-an386, 6.0.0, c -mcpu=cortex-m4",
        "mps3-an547, 7.0.0, c -mcpu=cortex-m55",
    })
    void layersAnswerBitExact(String board, String version, String host) throws IOException {
        boolean missing = Executables.find("qemu-system-arm").isEmpty();
        Assumptions.assumeFalse(missing && !"true".equals(System.getenv("CI")), "qemu-system-arm is not installed");
        TestToolchains.resolve("clang", Boards.builtIn().find(board).target());
        BuildSpec spec = SpecDraft.of(new Layout(folder, folder.resolve("out"), "net"), models(), board)
                .toolchain(Optional.of("clang"))
                .codegens(new CodegenSpec(
                        Optional.of("cmsis-nn -version=" + version + ", " + host),
                        Optional.of(CmsisNnStandIn.copy(folder.resolve("cmsis"), version))))
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.empty(), 1, 0))
                .build();
        new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET)).build(spec, DeviceSpec.USUAL);

        assertThat(json("verify.json").path("bitExact").asBoolean()).isTrue();
        assertThat(json("report.json").findValuesAsText("codegen")).contains("cmsis-nn", "c");
    }

    private List<ModelSource> models() throws IOException {
        List<ModelSource> models = new ArrayList<>();
        for (OperatorCases operator : List.of(ROW, PADDED)) {
            for (int seed = 0; seed < CASES; seed++) {
                String name = operator.name().toLowerCase(Locale.ROOT) + seed;
                Path file = folder.resolve(name + ".tflite");
                Files.write(file, operator.model(seed).toArray());
                models.add(new ModelSource(file, name));
            }
        }
        return models;
    }

    private JsonNode json(String file) throws IOException {
        return new ObjectMapper().readTree(folder.resolve("out/kiln/" + file).toFile());
    }
}
