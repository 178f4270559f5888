// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.HostProgram;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Arithmetic of uint64 over its whole range, in the interpreter and in C, is Java's. */
class UnsignedLongsTest {
    private static final long[] NUMBERS = {0, 1, 2, 3, 1000, 1L << 32, Long.MAX_VALUE, Long.MIN_VALUE, -1, -2, -1000};
    private static final int COUNT = NUMBERS.length * NUMBERS.length;

    @TempDir
    private Path folder;

    /** A function of two numbers. */
    private interface Formula {
        long of(long x, long y);
    }

    private static Map<String, Formula> formulas() {
        Map<String, Formula> formulas = new LinkedHashMap<>();
        formulas.put("Add", Long::sum);
        formulas.put("Mul", (a, b) -> a * b);
        formulas.put("Max", (a, b) -> Long.compareUnsigned(a, b) > 0 ? a : b);
        formulas.put("Min", (a, b) -> Long.compareUnsigned(a, b) < 0 ? a : b);
        formulas.put("Div", (a, b) -> b == 0 ? 1 : Long.divideUnsigned(a, b));
        formulas.put("Mod", (a, b) -> b == 0 ? a : Long.remainderUnsigned(a, b));
        formulas.put("BitwiseAnd", (a, b) -> a & b);
        formulas.put("BitwiseOr", (a, b) -> a | b);
        formulas.put("BitwiseXor", (a, b) -> a ^ b);
        formulas.put("BitShift", (a, b) -> a >>> (b & 63));
        return formulas;
    }

    @Test
    void answersAsJava() {
        long[] x = IntStream.range(0, COUNT)
                .mapToLong(i -> NUMBERS[i / NUMBERS.length])
                .toArray();
        long[] y = IntStream.range(0, COUNT)
                .mapToLong(i -> NUMBERS[i % NUMBERS.length])
                .toArray();
        ModelBuilder model = new ModelBuilder(18);
        model.input("x", ElementType.UINT64, List.of(COUNT));
        model.input("y", ElementType.UINT64, List.of(COUNT));
        model.node(
                "Mod",
                List.of(
                        "y",
                        model.constant(ElementType.UINT64, List.of(), bytes(64).toArray())),
                "bits",
                Map.of());
        ByteArrayOutputStream expected = new ByteArrayOutputStream();
        formulas().forEach((name, formula) -> {
            boolean isShift = name.equals("BitShift");
            Map<String, Object> attributes = isShift ? Map.of("direction", "RIGHT") : Map.of();
            model.node(name, List.of("x", isShift ? "bits" : "y"), name, attributes);
            model.output(name, ElementType.UINT64);
            long[] results = IntStream.range(0, COUNT)
                    .mapToLong(i -> formula.of(x[i], y[i]))
                    .toArray();
            expected.writeBytes(bytes(results).toArray());
        });
        model.node("ReduceMax", List.of("x"), "most", Map.of());
        model.output("most", ElementType.UINT64);
        expected.writeBytes(bytes(LongStream.of(-1).toArray()).toArray());
        assertAnswers(model.build(), List.of(bytes(x), bytes(y)), Bytes.wrap(expected.toByteArray()));
    }

    @Test
    void convertsToAndFromFloats() {
        ModelBuilder model = new ModelBuilder(18);
        model.input("x", ElementType.UINT64, List.of(NUMBERS.length));
        model.node("Cast", List.of("x"), "real", Map.of("to", (long) ModelBuilder.code(ElementType.FLOAT)));
        model.node("Cast", List.of("real"), "whole", Map.of("to", (long) ModelBuilder.code(ElementType.UINT64)));
        model.output("whole", ElementType.UINT64);
        long[] rounded = NUMBERS.clone();
        rounded[6] = Long.MIN_VALUE;
        rounded[9] = -1;
        rounded[10] = -1;
        assertAnswers(model.build(), List.of(bytes(NUMBERS)), bytes(rounded));
    }

    private void assertAnswers(Bytes file, List<Bytes> inputs, Bytes expected) {
        Function function = OnnxFrontend.read(file, "m.onnx", "m", InputShapes.NONE);
        ByteArrayOutputStream answers = new ByteArrayOutputStream();
        Interpreter.run(function, inputs).forEach(answer -> answers.writeBytes(answer.toArray()));
        assertThat(Bytes.wrap(answers.toByteArray())).isEqualTo(expected);
        CompiledModel compiled = ModelCompiler.compile(
                RequestDraft.of(Path.of("m.onnx"), "c").name("m").build(), function);
        Bytes actual = HostProgram.build(
                        folder,
                        List.of(compiled.library().metadata()),
                        List.of(compiled.library().artifacts().artifacts()))
                .run(inputs);
        assertThat(actual).isEqualTo(expected);
    }

    private static Bytes bytes(long... values) {
        ByteBuffer data = ByteBuffer.allocate(Long.BYTES * values.length).order(ByteOrder.LITTLE_ENDIAN);
        LongStream.of(values).forEach(data::putLong);
        return Bytes.wrap(data.array());
    }
}
