// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.Options.Field;
import io.kiln.frontend.tflite.TensorSpec;
import io.kiln.frontend.tflite.TfliteModelBuilder;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import io.kiln.tir.TirPrinter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;
import org.tensorflow.lite.schema.TensorType;

/** Infinities and every kind of NaN reach the outputs bit for bit, as elements of tables and as literals. */
class FloatConstantsTest {
    private static final int[] SPECIAL = {
        0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, 0x7FC01234, 0xFFFFFFFF, 0x7F800001, 0xFFA00000, 0x80000000, 1
    };
    private static final int SCALAR = 0xFFC00ABC;

    /** NaN, both infinities and a NaN with a payload as float16. */
    private static final short[] HALVES = {0x7E00, 0x7C00, (short) 0xFC00, (short) 0xFE01};

    @TempDir
    private Path folder;

    private final TfliteModelBuilder model = new TfliteModelBuilder();

    private static byte[] bytes(int... words) {
        ByteBuffer buffer = ByteBuffer.allocate(4 * words.length).order(ByteOrder.LITTLE_ENDIAN);
        buffer.asIntBuffer().put(words);
        return buffer.array();
    }

    private int output(String name, int builtin, Options options, int[] in, int... shape) {
        int y = model.tensor(TensorSpec.float32(name, shape));
        model.operator(builtin, 2, options, in, y);
        return y;
    }

    /** A table behind the input, a padding of NaN, a NaN chosen, a NaN everywhere, constants of float16. */
    private Function function() {
        int x = model.tensor(TensorSpec.float32("x", 4));
        int is = model.tensor(TensorSpec.of("is", TensorType.BOOL, 4));
        int table = model.tensor(TensorSpec.float32("table", SPECIAL.length).withData(bytes(SPECIAL)));
        int nan = model.tensor(TensorSpec.float32("nan").withData(bytes(SCALAR)));
        int widths =
                model.tensor(TensorSpec.of("widths", TensorType.INT32, 1, 2).withData(bytes(1, 2)));
        ByteBuffer halves = ByteBuffer.allocate(2 * HALVES.length).order(ByteOrder.LITTLE_ENDIAN);
        halves.asShortBuffer().put(HALVES);
        int packed = model.tensor(
                TensorSpec.of("packed", TensorType.FLOAT16, HALVES.length).withData(halves.array()));
        int unpacked =
                output("unpacked", BuiltinOperator.DEQUANTIZE, Options.none(), new int[] {packed}, HALVES.length);
        Options along = Options.table(BuiltinOptions.ConcatenationOptions, Field.int32(0, 0), Field.int8(1, 0));
        int[] outputs = {
            output("joined", BuiltinOperator.CONCATENATION, along, new int[] {x, table, unpacked}, 18),
            output("padded", BuiltinOperator.PADV2, Options.none(), new int[] {x, widths, nan}, 7),
            output("chosen", BuiltinOperator.SELECT_V2, Options.none(), new int[] {is, nan, x}, 4),
            output("added", BuiltinOperator.ADD, Options.add((byte) 0), new int[] {x, table4()}, 4),
        };
        model.inputs(x, is).outputs(outputs);
        return model.read();
    }

    private int table4() {
        return model.tensor(TensorSpec.float32("infinite", 1).withData(bytes(SPECIAL[1])));
    }

    @Test
    void theyKeepTheirBits() {
        Function function = function();
        CompileRequest request = RequestDraft.of(Path.of("floats"), "c -keys=cpu -model=host")
                .name("floats")
                .build();
        CompiledModel compiled = ModelCompiler.compile(request, function);
        HostProgram program = HostProgram.build(
                folder,
                List.of(compiled.library().metadata()),
                List.of(compiled.library().artifacts().artifacts()));
        List<Bytes> inputs = List.of(
                Bytes.wrap(bytes(SPECIAL[6], SPECIAL[4], 0x3F800000, 0)), Bytes.copyOf(new byte[] {1, 0, 1, 0}));
        List<Bytes> answer = Interpreter.run(function, inputs);
        assertThat(answer.get(0)
                        .buffer()
                        .slice(16, 4 * SPECIAL.length)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .asIntBuffer())
                .isEqualTo(ByteBuffer.wrap(bytes(SPECIAL))
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .asIntBuffer());
        byte[] expected = new byte[answer.stream().mapToInt(Bytes::size).sum()];
        ByteBuffer all = ByteBuffer.wrap(expected);
        answer.forEach(part -> all.put(part.toArray()));
        assertThat(program.run(inputs)).isEqualTo(Bytes.wrap(expected));
        String tir = compiled.code().functions().stream().map(TirPrinter::print).collect(Collectors.joining());
        assertThat(tir).contains("-nan(0x400abc)").doesNotContain("NaN");
    }
}
