// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.Origin;
import io.kiln.ir.Result;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Cast;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.Lookups.TflLookup16;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.Interpreter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A limit behind narrow integers: sums, products and conversions wrap around first, and what a table says is limited, too. */
class LimitedNarrowResultsTest {
    private static final int ELEMENTS = 300;
    private static final Origin ORIGIN = new Origin("net", 0, "test", "t");

    @TempDir
    private Path folder;

    static Stream<Arguments> operators() {
        Binary add = new Binary(Binary.Kind.ADD);
        Binary multiply = new Binary(Binary.Kind.MULTIPLY);
        return Stream.of(
                Arguments.of(add, DType.INT8, 2),
                Arguments.of(add, DType.UINT8, 2),
                Arguments.of(new Binary(Binary.Kind.SUBTRACT), DType.INT8, 2),
                Arguments.of(multiply, DType.INT8, 2),
                Arguments.of(multiply, DType.INT16, 2),
                Arguments.of(new Cast(DType.INT8), DType.INT32, 1),
                Arguments.of(new Cast(DType.INT16), DType.INT32, 1),
                Arguments.of(new TflLookup16(), DType.INT16, 1));
    }

    @ParameterizedTest
    @MethodSource("operators")
    void cAnswersAsTheInterpreterDoes(Op op, DType dtype, int operands) {
        GraphBuilder net = new GraphBuilder(new Function("net", List.of(), List.of(), List.of()));
        TensorType type = new TensorType(Shape.of(1, ELEMENTS), dtype);
        List<Arg> args = new ArrayList<>();
        for (int i = 0; i < operands; i++) {
            args.add(net.parameter("x" + i, type, Optional.empty()));
        }
        Random random = new Random(5);
        if (op instanceof TflLookup16) {
            args.add(new Constant("", new TensorType(Shape.of(513), DType.INT16), bytes(2 * 513, random)));
        }
        Arg.Ref limited = net.call(new Clip(3, 90), List.of(net.call(op, args, ORIGIN)), ORIGIN);
        Function function = net.build("net", List.of(new Result(limited.id(), "y", Optional.empty())));
        List<Bytes> inputs = function.params().stream()
                .map(param -> bytes((int) param.type().bytes(), random))
                .toList();
        CompiledModel compiled = ModelCompiler.compile(
                RequestDraft.of(Path.of("net.onnx"), "c").name("net").build(), function);
        Bytes c = HostProgram.build(
                        folder,
                        List.of(compiled.library().metadata()),
                        List.of(compiled.library().artifacts().artifacts()))
                .run(inputs);
        assertThat(c).isEqualTo(Interpreter.run(function, inputs).get(0));
    }

    private static Bytes bytes(int count, Random random) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return Bytes.wrap(bytes);
    }
}
