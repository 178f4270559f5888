// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ModelIdentity;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.RuntimeFeature;
import io.kiln.artifact.RuntimeFiles;
import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.base.WholeFiles;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Origin;
import io.kiln.ir.Parameter;
import io.kiln.ir.Quantization;
import io.kiln.ir.Result;
import io.kiln.ir.op.movement.Copy;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code tvmgen_<name>_tensors.h} states is true, and its conversions round as they should: compiled as C and as C++, and run. */
class TensorHeaderTest {
    private static final int VALUES = 4000;
    private static final List<DType> TYPES = List.of(DType.INT8, DType.UINT8, DType.INT16);
    private static final String FIXED = "-Wall -Wextra -Wconversion -Wshadow -Werror -fsanitize=undefined -Iinclude";

    @TempDir
    private Path folder;

    private final Random random = new Random(17);
    private final List<Parameter> parameters = new ArrayList<>();

    @BeforeEach
    void draw() {
        for (int i = 0; i < 9; i++) {
            DType type = TYPES.get(i % TYPES.size());
            float scale = (float) (1e-4 * Math.pow(1e4, random.nextDouble()));
            int zero = type == DType.INT16 ? 0 : (int) type.min() + random.nextInt(256);
            parameters.add(new Parameter(
                    i,
                    "input_" + (8 - i),
                    new TensorType(Shape.of(1, 2 + i), type),
                    Optional.of(new Quantization(scale, zero))));
        }
        parameters.add(
                new Parameter(9, "a \"real\" one\\", new TensorType(Shape.scalar(), DType.FLOAT32), Optional.empty()));
    }

    @Test
    void realNumbersBecomeElementsAndElementsRealNumbers() throws IOException {
        write(compile());
        StringBuilder main = new StringBuilder("#include <stdio.h>\n#include \"tvmgen_drawn_tensors.h\"\n");
        main.append("int main(int argc, char** argv) {\n  float value;\n  int32_t fixed;\n");
        main.append("  FILE* in = fopen(argv[argc - 1], \"rb\");\n");
        main.append("  while (in && fread(&value, 4, 1, in) == 1 && fread(&fixed, 4, 1, in) == 1) {\n");
        for (int i = 0; i < 9; i++) {
            String type = parameters.get(i).type().dtype().cName();
            main.append(String.format(
                    Locale.ROOT,
                    "    { %s e = (%s)fixed; printf(\"%%d %%d %%d %%a\\n"
                            + "\", tvmgen_drawn_quantize_input_%d(value), tvmgen_drawn_quantize_q16_input_%d(fixed),"
                            + " (int)tvmgen_drawn_dequantize_q16_output_%d(e),"
                            + " (double)tvmgen_drawn_dequantize_output_%d(e)); }\n",
                    type,
                    type,
                    i,
                    i,
                    i,
                    i));
        }
        WholeFiles.write(folder.resolve("main.c"), main + "  }\n  return 0;\n}\n");
        cc("cc -std=c99 " + FIXED + " main.c -o program");
        ByteBuffer values = ByteBuffer.allocate(8 * VALUES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < VALUES; i++) {
            values.putFloat(value(i)).putInt(random.nextInt() >> random.nextInt(32));
        }
        Files.write(folder.resolve("values.bin"), values.array());
        ProcessResult run = ProcessRunner.run(
                Command.of("./program", List.of("values.bin")).in(folder).within(Duration.ofMinutes(1)));
        assertThat(run.exitCode()).as(run.message()).isZero();
        assertThat(run.output().lines()).containsExactlyElementsOf(expected(values));
    }

    @Test
    void theTableAndTheMacrosTellOfEveryTensor() {
        write(compile());
        WholeFiles.write(folder.resolve("main.cpp"), """
            #include <stdio.h>
            #include "tvmgen_drawn.h"
            #include "tvmgen_drawn_tensors.h"
            int main() {
              for (const kiln_tensor& t : tvmgen_drawn_input_tensors) {
                printf("%s %d %d %d %d %u %u %a %d\\n", t.name, t.dtype.code, t.dtype.bits, (int)t.rank,
                       t.rank ? (int)t.shape[t.rank - 1] : 0, (unsigned)t.elements, (unsigned)t.bytes, (double)t.scale,
                       (int)t.zero_point);
              }
              TVMGEN_DRAWN_INPUT_2_TYPE own[TVMGEN_DRAWN_INPUT_2_ELEMENTS] = {};
              const int dims[] = {TVMGEN_DRAWN_INPUT_2_SHAPE};
              struct tvmgen_drawn_inputs inputs = {};
              inputs.TVMGEN_DRAWN_INPUT_2 = own;
              printf("%d %d %d %d\\n", inputs.input_6 == own, dims[TVMGEN_DRAWN_INPUT_2_RANK - 1],
                     (int)sizeof own == TVMGEN_DRAWN_INPUT_2_BYTES, TVMGEN_DRAWN_OUTPUTS);
              printf("%s %s %s\\n", TVMGEN_DRAWN_MODEL, TVMGEN_DRAWN_MODEL_VERSION, TVMGEN_DRAWN_MODEL_SHA256);
            }
            """);
        cc("c++ -std=c++11 " + FIXED + " -Wno-unused-function main.cpp -o program");
        ProcessResult run =
                ProcessRunner.run(Command.of("./program", List.of()).in(folder).within(Duration.ofMinutes(1)));
        List<String> lines = new ArrayList<>();
        for (Parameter p : parameters) {
            DType type = p.type().dtype();
            int elements = (int) p.type().shape().elements();
            int code = type.isFloat() ? 2 : type == DType.UINT8 ? 1 : 0;
            lines.add(String.join(
                    " ",
                    p.name(),
                    code + " " + 8 * type.bytes(),
                    p.type().shape().rank() + " " + (type.isFloat() ? 0 : elements),
                    elements + " " + p.type().bytes(),
                    p.quantization()
                            .map(q -> hex(q.scale()) + " " + q.zeroPoint())
                            .orElse("0x0p+0 0")));
        }
        lines.add("1 4 1 10");
        lines.add("m.tflite 1.2.3-\"x\" 00ff");
        assertThat(run.output().lines()).containsExactlyElementsOf(lines);
    }

    /** Numbers of all sizes, halves of steps, and what is no finite number. */
    private float value(int index) {
        float scale = parameters.get(index % 9).quantization().orElseThrow().scale();
        return switch (index % 8) {
            case 0 -> Float.intBitsToFloat(random.nextInt());
            case 1 -> (random.nextInt(70000) - 35000 + 0.5f) * scale;
            case 2 -> Math.nextDown((random.nextInt(300) + 0.5f) * scale);
            case 3 ->
                List.of(Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, -0f)
                        .get(random.nextInt(4));
            default -> (float) (random.nextGaussian() * 100 * scale);
        };
    }

    private List<String> expected(ByteBuffer values) {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < VALUES; i++) {
            for (int k = 0; k < 9; k++) {
                lines.add(expected(values.getFloat(8 * i), values.getInt(8 * i + 4), parameters.get(k)));
            }
        }
        return lines;
    }

    private static String expected(float value, int fixed, Parameter parameter) {
        DType type = parameter.type().dtype();
        Quantization by = parameter.quantization().orElseThrow();
        double steps = value / by.scale();
        double rounded = Math.copySign(Math.floor(Math.abs(steps) + 0.5), steps) + by.zeroPoint();
        long element = Double.isNaN(steps)
                ? type.min()
                : (long) Math.max((double) type.min(), Math.min((double) type.max(), rounded));
        long fromFixed = by.zeroPoint() + rescaled(fixed, Math.scalb(1 / (double) by.scale(), -16));
        int cut = type == DType.INT8 ? (byte) fixed : type == DType.UINT8 ? fixed & 0xFF : (short) fixed;
        long toFixed = rescaled(cut - by.zeroPoint(), Math.scalb((double) by.scale(), 16));
        return element + " " + Math.max(type.min(), Math.min(type.max(), fromFixed)) + " " + toFixed + " "
                + hex(by.scale() * (float) (cut - by.zeroPoint()));
    }

    private static long rescaled(long value, double factor) {
        QuantizedMultiplier by = QuantizedMultiplier.of(factor);
        int shift = 31 - by.shift();
        BigInteger sum = BigInteger.valueOf(value)
                .multiply(BigInteger.valueOf(by.multiplier()))
                .add(BigInteger.ONE.shiftLeft(shift - 1));
        return sum.shiftRight(shift).longValueExact();
    }

    /** As C's {@code %a} prints a float. */
    private static String hex(float value) {
        String text = Double.toHexString(value).replace(".0p", "p");
        return text.replaceAll("p(?=[0-9])", "p+");
    }

    private ModelLibrary compile() {
        List<Binding> bindings = new ArrayList<>();
        List<Result> results = new ArrayList<>();
        for (Parameter p : parameters) {
            int id = parameters.size() + p.id();
            bindings.add(new Binding(
                    id, new Copy(), List.of(new Arg.Ref(p.id())), p.type(), new Origin("m.tflite", p.id(), "", "")));
            results.add(new Result(id, "out" + p.id(), p.quantization()));
        }
        CompileRequest request = RequestDraft.of(Path.of("m.tflite"), "c -keys=arm_cpu,cpu -mcpu=cortex-m4")
                .name("drawn")
                .identity(new ModelIdentity("1.2.3-\"x\"", "00ff"))
                .build();
        return ModelCompiler.compile(request, new Function("drawn", parameters, bindings, results))
                .library();
    }

    private void write(ModelLibrary library) {
        List<Artifact> files = new ArrayList<>(library.artifacts().of(ArtifactKind.HEADER));
        for (Artifact file : RuntimeFiles.runtime(Set.of(RuntimeFeature.BASE))) {
            WholeFiles.write(folder.resolve(file.fileName()), file.text());
        }
        files.forEach(file -> WholeFiles.write(folder.resolve(file.fileName()), file.text()));
    }

    private void cc(String line) {
        List<String> words = List.of(line.split(" "));
        ProcessResult result = ProcessRunner.run(Command.of(words.get(0), words.subList(1, words.size()))
                .in(folder)
                .within(Duration.ofMinutes(2)));
        assertThat(result.exitCode()).as(result.message()).isZero();
    }
}
