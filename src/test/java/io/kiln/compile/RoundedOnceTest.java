// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.NamedTensor;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Optimize;
import io.kiln.draw.RandomOperators;
import io.kiln.frontend.relay.RelayFrontend;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import io.kiln.target.TestTargets;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Random texts in TVM's arithmetic, their C generated for several cores and run here under sanitizers. */
class RoundedOnceTest {
    private static final int MODELS = Integer.getInteger("kiln.test.rounded.models", 40);

    private static final List<String> TARGETS =
            List.of(TestTargets.ANY, TestTargets.M4, TestTargets.M55, TestTargets.M0, TestTargets.RV32);

    private static final List<Optimize> OPTIMIZE = List.of(Optimize.SPEED, Optimize.SIZE, Optimize.RAM);

    @TempDir
    private Path folder;

    private final Random random = new Random(29);
    private List<NamedTensor> params = List.of();

    @Test
    void theirCAnswersAsTheInterpreter() {
        List<ModelMetadata> models = new ArrayList<>();
        List<List<Artifact>> artifacts = new ArrayList<>();
        List<Bytes> inputs = new ArrayList<>();
        ByteArrayOutputStream expected = new ByteArrayOutputStream();
        for (int i = 0; i < MODELS; i++) {
            Function function = function("m" + i);
            CompileRequest request = RequestDraft.of(Path.of("m.relay"), TARGETS.get(i % TARGETS.size()))
                    .name("m" + i)
                    .optimize(OPTIMIZE.get(i / TARGETS.size() % OPTIMIZE.size()))
                    .build();
            CompiledModel compiled = ModelCompiler.compile(request, function);
            models.add(compiled.library().metadata());
            artifacts.add(compiled.library().artifacts().artifacts());
            Bytes input = RandomOperators.input(function.params().get(0).type(), i);
            inputs.add(input);
            expected.writeBytes(Interpreter.run(function, List.of(input)).get(0).toArray());
        }

        assertThat(HostProgram.build(folder, models, artifacts).run(inputs).toArray())
                .isEqualTo(expected.toByteArray());
    }

    /** A layer with its bias, rescaling and perhaps limits; a sum with what it reads; a mean; a rescaling of its own. */
    private Function function(String name) {
        params = new ArrayList<>();
        int channels = 1 + random.nextInt(9);
        int size = 2 + random.nextInt(8);
        String rounding = random.nextBoolean() ? "UPWARD" : "TONEAREST";
        String layerRounding = random.nextInt(3) == 0 ? "ONNX" : rounding;
        boolean depthwise = random.nextInt(3) == 0 && channels > 1;
        int kernel = 1 + random.nextInt(2);
        param("w", DType.INT8, kernel, kernel, depthwise ? 1 : channels, channels);
        param("b", DType.INT32, channels);
        param("s", DType.FLOAT32, channels);
        double typical = 128 * Math.sqrt((double) kernel * kernel * (depthwise ? 1 : channels));
        String text = String.format(
                Locale.ROOT,
                """
                def @main(%%x: Tensor[(1, %2$d, %2$d, %1$d), int8], %%w: Tensor[(%3$d, %3$d, %4$d, %1$d), int8], %%b: Tensor[(%1$d), int32], %%s: Tensor[(%1$d), float32]) {
                  %%0 = qnn.conv2d(%%x, %%w, %5$d, 0, 0.1f, 0.02f, padding=[0, 0, %6$d, %6$d], groups=%7$d, data_layout="NHWC", kernel_layout="HWIO", out_dtype="int32");
                  %%1 = nn.bias_add(%%0, %%b, axis=3);
                  %%2 = qnn.requantize(%%1, %%s, 0, %8$sf, %9$d, axis=3, rounding="%14$s", out_dtype="int8");
                  %%3 = clip(%%2, a_min=%11$df, a_max=127f);
                  %%4 = qnn.add(%%3, %%x, 0.3f, %9$d, %12$sf, -7, 0.5f, 11);
                  %%5 = cast(%%4, dtype="int32");
                  %%6 = nn.avg_pool2d(%%5, pool_size=[2, 2], layout="NHWC");
                  qnn.requantize(cast(%%6, dtype="int8"), 0.5f, 11, %13$sf, -3, rounding="%10$s", out_dtype="int8")
                }
                """,
                channels,
                size,
                kernel,
                depthwise ? 1 : channels,
                random.nextInt(256) - 128,
                kernel - 1,
                depthwise ? channels : 1,
                typical,
                random.nextInt(256) - 128,
                rounding,
                random.nextBoolean() ? -128 : -20,
                0.1 + random.nextDouble(),
                random.nextInt(3) == 0 ? 0.25 : 0.1 + random.nextDouble(),
                layerRounding);
        return RelayFrontend.read(
                Bytes.ofText(text), "m.relay", Optional.of(ParameterFile.write(params)), "m.params", name);
    }

    private void param(String name, DType dtype, Integer... dims) {
        int elements = List.of(dims).stream().reduce(1, (a, b) -> a * b);
        byte[] weights = new byte[elements];
        random.nextBytes(weights);
        float[] scales = new float[elements];
        for (int i = 0; i < elements; i++) {
            // Now and then a power of two, for which many results lie halfway.
            scales[i] = random.nextInt(3) == 0 ? 0.5f : 0.1f + random.nextFloat();
        }
        Bytes data = switch (dtype) {
            case INT8 -> Bytes.wrap(weights);
            case INT32 ->
                Constant.vector(random.ints(elements, -9000, 9000).toArray()).data();
            default -> Constant.vector(scales).data();
        };
        params.add(new NamedTensor(name, dtype, List.of(dims), data));
    }
}
