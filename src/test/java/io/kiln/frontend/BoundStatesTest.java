// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.HostProgram;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.draw.RandomOperators;
import io.kiln.frontend.InputValues.BoundStates;
import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.onnx.OnnxRuntime;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.network.Transformers;
import io.kiln.frontend.tflite.write.TfliteMaker;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.Origin;
import io.kiln.ir.Parameter;
import io.kiln.ir.Quantization;
import io.kiln.ir.Result;
import io.kiln.ir.Variable;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.call.Variables.RefWrite;
import io.kiln.ir.op.call.Variables.RingWrite;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.Copy;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.op.reduce.ArgReduce;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.quantize.FloatNet;
import io.kiln.quantize.QuantizeOptions;
import io.kiln.quantize.QuantizeOptions.QuantizeMode;
import io.kiln.quantize.Quantizer;
import io.kiln.quantize.run.Runs;
import io.kiln.quantize.sample.Sample;
import io.kiln.reference.ConstantFolder;
import io.kiln.reference.Interpreter;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BoundStatesTest {
    @TempDir
    private Path folder;

    private static final TensorType PAIR = type(1, 2);

    private static TensorType type(int... shape) {
        return new TensorType(Shape.of(shape), DType.FLOAT32);
    }

    /** Inputs x, a and b; outputs y = x + a + b, a2 = x + a, b2 = a as it was, long = (b, x). */
    private static Function model() {
        GraphBuilder graph = new GraphBuilder(new ConstantFolder(0));
        Arg.Ref x = graph.parameter("x", PAIR, Optional.empty());
        Arg.Ref a = graph.parameter("a", PAIR, Optional.empty());
        Arg.Ref b = graph.parameter("b", PAIR, Optional.empty());
        Origin origin = new Origin("m", 0, "Add", "t");
        Arg.Ref sum = graph.call(new Binary(Binary.Kind.ADD), List.of(x, a), origin);
        Arg.Ref all = graph.call(new Binary(Binary.Kind.ADD), List.of(sum, b), origin);
        Arg.Ref same = graph.call(new Reshape(Shape.of(1, 2)), List.of(a), origin);
        Arg.Ref both = graph.call(new Concatenate(0, 2), List.of(b, x), origin);
        return graph.build(
                "m",
                List.of(
                        new Result(all.id(), "y", Optional.empty()),
                        new Result(sum.id(), "a2", Optional.empty()),
                        new Result(same.id(), "b2", Optional.empty()),
                        new Result(both.id(), "long", Optional.empty())));
    }

    private static Function bound(String values) {
        return InputValues.parse(values).withState(model(), "m.onnx");
    }

    private static Bytes floats(float... values) {
        ByteBuffer buffer = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        buffer.asFloatBuffer().put(values);
        return Bytes.wrap(buffer.array());
    }

    /** States change after all values have been computed, each from what the states were. */
    @Test
    void inputsGetTheOutputsOfTheRunBefore() {
        Function function = bound("a=previous(a2); b=previous( b2 )");

        assertThat(function.params()).extracting(Parameter::name).containsExactly("x");
        assertThat(function.results()).extracting(Result::name).containsExactly("y", "long");
        assertThat(function.variables()).extracting(Variable::name).containsExactly("a", "b");
        Interpreter.State state = Interpreter.State.initial(function);
        float a = 0;
        float b = 0;
        for (float x : new float[] {1, 10, 100, 1000}) {
            List<Bytes> answers = Interpreter.run(function, List.of(floats(x, -x)), state);
            assertThat(answers.get(0)).isEqualTo(floats(x + a + b, -x - a - b));
            assertThat(answers.get(1)).isEqualTo(floats(b, 0 - b, x, -x));
            b = a;
            a += x;
        }
    }

    @Test
    void aLongerOutputForgetsItsFirstElements() {
        Function function = bound("b=previous(long)");

        Interpreter.State state = Interpreter.State.initial(function);
        Bytes zeros = floats(0, 0);
        Interpreter.run(function, List.of(floats(3, 4), zeros), state);
        assertThat(Interpreter.run(function, List.of(zeros, zeros), state).get(0))
                .isEqualTo(floats(3, 4));
        assertThat(Interpreter.run(function, List.of(zeros, zeros), state).get(0))
                .isEqualTo(zeros);
    }

    @Test
    void integersBeginWithTheirZeroPoint() {
        Quantization scale = new Quantization(0.5f, -7);
        GraphBuilder graph = new GraphBuilder(new ConstantFolder(0));
        TensorType bytes = new TensorType(Shape.of(2), DType.INT8);
        Arg.Ref x = graph.parameter("x", bytes, Optional.of(scale));
        Arg.Ref past = graph.parameter("past", bytes, Optional.of(scale));
        Origin origin = new Origin("m", 0, "Concat", "t");
        Arg.Ref all = graph.call(new Concatenate(0, 2), List.of(past, x), origin);
        List<Result> results = List.of(
                new Result(all.id(), "all", Optional.of(scale)),
                new Result(graph.copied(x, origin).id(), "present", Optional.of(scale)));

        Function function = InputValues.parse("past=previous(present)").withState(graph.build("m", results), "m.onnx");

        Bytes one = Bytes.wrap(new byte[] {1, 2});
        Interpreter.State state = Interpreter.State.initial(function);
        assertThat(Interpreter.run(function, List.of(one), state).get(0).toArray())
                .containsExactly(-7, -7, 1, 2);
        assertThat(Interpreter.run(function, List.of(one), state).get(0).toArray())
                .containsExactly(1, 2, 1, 2);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "c=previous(a2)|names the input `c`; expected one of [x, a, b]",
                "a=previous(c)|names the output `c`; expected one of [y, a2, b2, long]",
                "*=previous(*2)|names the output `x2`",
                "a=previous(a2);b=previous(a2)|gives one output to two inputs",
                "a=previous(a2);a=1|gives `a` two values",
                "a=previous()|the value 'previous()'",
            })
    void pairsThatDoNotExistAreRefused(String values, String message) {
        assertThatThrownBy(() -> bound(values))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(message);
    }

    @Test
    void pairsThatDoNotFitAreRefused() {
        GraphBuilder graph = new GraphBuilder(new ConstantFolder(0));
        Arg.Ref x = graph.parameter("x", type(3, 2), Optional.empty());
        Arg.Ref y = graph.parameter("y", type(2, 2), Optional.of(new Quantization(1, 0)));
        Origin origin = new Origin("m", 0, "Copy", "t");
        Function function = graph.build(
                "m",
                List.of(
                        new Result(graph.copied(y, origin).id(), "u", Optional.empty()),
                        new Result(graph.copied(x, origin).id(), "v", Optional.empty())));

        for (Map.Entry<String, String> each : Map.of(
                        "x=previous(u)",
                        "gives `x` Tensor[(3, 2), float32] the output `u` Tensor[(2, 2), float32]",
                        "y=previous(u)",
                        "which has another scale or zero point",
                        "x=previous(v);y=previous(u)",
                        "another scale")
                .entrySet()) {
            assertThatThrownBy(() -> InputValues.parse(each.getKey()).withState(function, "m.onnx"))
                    .hasMessageContaining(each.getValue());
        }
        Function only = function.withResults(function.results().subList(1, 2));
        assertThatThrownBy(() -> InputValues.parse("x=previous(v)").withState(only, "m.onnx"))
                .hasMessageContaining("makes all outputs state");
    }

    /** Two layers with keys and values of the steps before, which the test keeps itself for ONNX Runtime. */
    @Test
    void aTransformerThatKeepsItsKeysAnswersAsInOnnxRuntime() {
        Bytes file = Transformers.streaming(1);
        Function plain = OnnxFrontend.read(file, "m.onnx", "m", InputShapes.NONE);
        Function function = InputValues.parse(Transformers.STATE).withState(plain, "m.onnx");
        assertThat(function.params()).hasSize(1);
        assertThat(function.variables()).hasSize(8);
        assertThat(function.bindings().stream()
                        .filter(binding -> binding.op() instanceof RingWrite)
                        .count())
                .isEqualTo(4);
        assertThat(function.bindings())
                .noneMatch(binding -> binding.op() instanceof Concatenate || binding.op() instanceof RefWrite);

        Interpreter.State state = Interpreter.State.initial(function);
        List<Bytes> kept = new ArrayList<>();
        plain.params()
                .subList(1, 5)
                .forEach(past -> kept.add(Bytes.wrap(new byte[(int) past.type().bytes()])));
        for (int step = 0; step < 10; step++) {
            Bytes x = RandomOperators.input(plain.params().get(0).type(), step);
            List<Bytes> inputs = new ArrayList<>(List.of(x));
            inputs.addAll(kept);
            List<Bytes> expected = OnnxRuntime.run(file, plain.params(), inputs);
            assertClose(Interpreter.run(function, List.of(x), state).get(0), expected.get(0));
            for (int i = 0; i < kept.size(); i++) {
                kept.set(i, withoutOldest(expected.get(i + 1)));
            }
        }
    }

    /** Values that are read from a state are quantized like others; the state itself stays float. */
    @Test
    void aQuantizedModelKeepsItsState() {
        GraphBuilder graph = new GraphBuilder(new ConstantFolder(0));
        Arg.Ref x = graph.parameter("x", type(1, 1, 4), Optional.empty());
        Arg.Ref past = graph.parameter("past", type(1, 5, 4), Optional.empty());
        Arg.Ref all = (Arg.Ref) call(graph, new Concatenate(1, 2), past, x);
        Arg sum = call(graph, new Reduce(Reduce.Kind.SUM, List.of(1), true), all);
        Arg.Ref y = (Arg.Ref) call(graph, new Binary(Binary.Kind.MULTIPLY), sum, x);
        List<Result> results =
                List.of(new Result(y.id(), "y", Optional.empty()), new Result(all.id(), "present", Optional.empty()));
        Function real = InputValues.parse("past=previous(present)").withState(graph.build("m", results), "m.onnx");
        List<Sample> samples = FloatNet.samples(real, 12, 1);
        Function function = new Quantizer(new TfliteMaker("m"), Runs.Progress.NONE)
                .quantize(real, samples, QuantizeOptions.of(QuantizeMode.INT8))
                .network()
                .function();
        assertThat(function.bindings()).anyMatch(binding -> binding.op() instanceof RingWrite);
        Quantization in = function.params().get(0).quantization().orElseThrow();
        Quantization out = function.results().get(0).quantization().orElseThrow();
        Interpreter.State ofReal = Interpreter.State.initial(real);
        Interpreter.State state = Interpreter.State.initial(function);
        double errors = 0;
        double sums = 0;
        for (Sample sample : samples) {
            FloatBuffer given = sample.inputs()
                    .get(0)
                    .buffer()
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .asFloatBuffer();
            byte[] row = new byte[given.remaining()];
            for (int i = 0; i < row.length; i++) {
                row[i] = (byte) Math.max(-128, Math.min(127, Math.round(given.get(i) / in.scale()) + in.zeroPoint()));
            }
            FloatBuffer expected = Interpreter.run(real, sample.inputs(), ofReal)
                    .get(0)
                    .buffer()
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .asFloatBuffer();
            for (byte result : Interpreter.run(function, List.of(Bytes.wrap(row)), state)
                    .get(0)
                    .toArray()) {
                double wanted = expected.get();
                double error = wanted - (result - out.zeroPoint()) * (double) out.scale();
                errors += error * error;
                sums += wanted * wanted;
            }
        }
        assertThat(errors).isLessThan(sums / 100);
        sameInC(List.of(function));
    }

    /** Graphs of strangers, too, may have a ring, and its place may begin anywhere. */
    @Test
    void aPlaceOutsideOfTheRingIsTheNearestInside() {
        List<Function> functions = new ArrayList<>();
        for (int begin : List.of(1_000_000, -7, 3, Integer.MAX_VALUE, Integer.MIN_VALUE)) {
            GraphBuilder graph = new GraphBuilder(new ConstantFolder(0));
            Arg.Ref x = graph.parameter("x", new TensorType(Shape.of(2, 2, 3), DType.INT8), Optional.empty());
            Arg.Ref slots = graph.variable("slots", new TensorType(Shape.of(2, 4, 3), DType.INT8));
            Bytes first = Bytes.wrap(ByteBuffer.allocate(Integer.BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putInt(begin)
                    .array());
            Arg.Ref place = graph.variable("place", new TensorType(Shape.of(1), DType.INT32), first);
            Origin origin = new Origin("m", 0, "Use", "t");
            graph.emit(new RingWrite(1), List.of(x, slots, place), origin);
            Arg.Ref y = graph.call(new Copy(), List.of(slots), origin);
            functions.add(graph.build("m", List.of(new Result(y.id(), "y", Optional.empty()))));
        }
        sameInC(functions);
    }

    /** A cache that a node writes into: what it computes is given to the state as it is, since it does not lie where the state does. */
    @Test
    void aScatteredCacheIsCopiedOnce() {
        ModelBuilder model = new ModelBuilder(24);
        model.input("row", ElementType.FLOAT, List.of(1, 1, 2));
        model.input("at", ElementType.INT64, List.of(1));
        model.input("cache", ElementType.FLOAT, List.of(1, 4, 2));
        Map<String, Object> circular = Map.of("mode", "circular");
        String present = model.node("TensorScatter", List.of("cache", "row", "at"), "present", circular);
        model.output(model.node("Neg", List.of(present), "y", Map.of()), ElementType.FLOAT);
        model.output(present, ElementType.FLOAT);
        Function plain = OnnxFrontend.read(model.build(), "m.onnx", "m", InputShapes.NONE);
        Function function = InputValues.parse("cache=previous(present)").withState(plain, "m.onnx");

        assertThat(function.bindings()).noneMatch(binding -> binding.op() instanceof Copy);
        Interpreter.State state = Interpreter.State.initial(function);
        float[] kept = new float[8];
        for (int step = 0; step < 9; step++) {
            kept[step % 4 * 2] = -step;
            kept[step % 4 * 2 + 1] = -2 * step;
            Bytes at = Bytes.wrap(ByteBuffer.allocate(Long.BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(step % 4)
                    .array());
            Bytes answer = Interpreter.run(function, List.of(floats(step, 2 * step), at), state)
                    .get(0);
            FloatBuffer given = answer.buffer().order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
            for (float wanted : kept) {
                assertThat(given.get()).isEqualTo(wanted == 0 ? -0f : wanted);
            }
        }
    }

    /** What a model makes of rows that it keeps, in order, with those of the run behind them: (1, rows, 2), int32. */
    private interface Use {
        Arg of(GraphBuilder graph, Arg.Ref all, Arg.Ref x);
    }

    private static Arg call(GraphBuilder graph, Op op, Arg... args) {
        return graph.call(op, List.of(args), new Origin("m", 0, "Use", "t"));
    }

    private static Constant row(int... values) {
        Constant all = Constant.vector(values);
        return new Constant("", new TensorType(Shape.of(1, values.length, 1), DType.INT32), all.data());
    }

    /** Uses, and whether a ring answers the same. */
    private static Map<Use, Boolean> uses() {
        Op multiply = new Binary(Binary.Kind.MULTIPLY);
        Op sum = new Reduce(Reduce.Kind.SUM, List.of(1), false);
        Op last = new Reduce(Reduce.Kind.MAX, List.of(2), true);
        Map<Use, Boolean> uses = new LinkedHashMap<>();
        uses.put((g, all, x) -> call(g, sum, all), true);
        uses.put((g, all, x) -> call(g, sum, call(g, multiply, all, row(3))), true);
        uses.put((g, all, x) -> call(g, sum, call(g, multiply, all, call(g, last, all))), true);
        uses.put(
                (g, all, x) -> {
                    Arg turned = call(g, new Transpose(List.of(2, 0, 1)), all);
                    Arg flat = call(g, new Reshape(Shape.of(2, 6)), turned);
                    return call(g, new Reduce(Reduce.Kind.MIN, List.of(1), false), flat);
                },
                true);
        // Places count.
        uses.put((g, all, x) -> call(g, sum, call(g, multiply, all, row(1, 2, 3, 4, 5, 6))), false);
        uses.put((g, all, x) -> call(g, StridedSlice.along(Shape.of(1, 6, 2), 1, 0, 1, 1), all), false);
        uses.put((g, all, x) -> call(g, new ArgReduce(true, 1), all), false);
        uses.put((g, all, x) -> call(g, new Copy(), all), false);
        uses.put(
                (g, all, x) -> call(
                        g,
                        new Reduce(Reduce.Kind.SUM, List.of(1), false),
                        call(g, new Reshape(Shape.of(1, 4, 3)), all)),
                false);
        return uses;
    }

    /** A model that keeps rows of int32, in the form of an exporter, and does something with them. */
    private static Function keeping(Use use, int kept, int added) {
        GraphBuilder graph = new GraphBuilder(new ConstantFolder(0));
        TensorType rows = new TensorType(Shape.of(1, added, 2), DType.INT32);
        Arg.Ref x = graph.parameter("x", rows, Optional.empty());
        Arg.Ref past = graph.parameter("past", new TensorType(Shape.of(1, kept, 2), DType.INT32), Optional.empty());
        Arg.Ref all = (Arg.Ref) call(graph, new Concatenate(1, 2), past, x);
        Arg.Ref y = graph.own(use.of(graph, all, x), new Origin("m", 0, "Use", "t"));
        return graph.build(
                "m",
                List.of(new Result(y.id(), "y", Optional.empty()), new Result(all.id(), "present", Optional.empty())));
    }

    private static void sameAnswers(Function ring, Function plain, int added) {
        Interpreter.State of = Interpreter.State.initial(ring);
        Interpreter.State usual = Interpreter.State.initial(plain);
        for (int step = 0; step < 13; step++) {
            Bytes x = RandomOperators.input(new TensorType(Shape.of(1, added, 2), DType.INT32), step);
            assertThat(Interpreter.run(ring, List.of(x), of)).isEqualTo(Interpreter.run(plain, List.of(x), usual));
        }
    }

    private void sameInC(List<Function> functions) {
        List<CompiledModel> compiled = new ArrayList<>();
        List<Interpreter.State> states = new ArrayList<>();
        for (Function function : functions) {
            Optimize[] aims = Optimize.values();
            compiled.add(ModelCompiler.compile(
                    RequestDraft.of(Path.of("m.onnx"), "c -keys=cpu")
                            .name("m" + compiled.size())
                            .optimize(aims[compiled.size() % aims.length])
                            .build(),
                    function));
            states.add(Interpreter.State.initial(function));
        }
        List<Bytes> inputs = new ArrayList<>();
        ByteArrayOutputStream expected = new ByteArrayOutputStream();
        for (int step = 0; step < 13; step++) {
            for (int i = 0; i < functions.size(); i++) {
                Bytes x = RandomOperators.input(functions.get(i).params().get(0).type(), step);
                inputs.add(x);
                Interpreter.run(functions.get(i), List.of(x), states.get(i))
                        .forEach(answer -> expected.writeBytes(answer.toArray()));
            }
        }
        assertThat(HostProgram.build(
                                folder,
                                compiled.stream()
                                        .map(each -> each.library().metadata())
                                        .toList(),
                                compiled.stream()
                                        .map(each -> each.library().artifacts().artifacts())
                                        .toList())
                        .run(inputs))
                .isEqualTo(Bytes.wrap(expected.toByteArray()));
    }

    /** Rings are where nothing depends on the order, and answer as states that are moved in every run. */
    @Test
    void statesWithoutOrderAreRings() {
        Map<String, String> pairs = Map.of("past", "present");
        List<Function> rings = new ArrayList<>();
        uses().forEach((use, isRing) -> {
            for (int added : new int[] {1, 2, 3}) {
                Function plain = BoundStates.bind(keeping(use, 6 - added, added), pairs, "m.onnx");
                Function function = RingStates.of(plain);
                assertThat(function.bindings().stream().anyMatch(b -> b.op() instanceof RingWrite))
                        .isEqualTo(isRing);
                sameAnswers(function, plain, added);
                if (isRing) {
                    rings.add(function);
                }
            }
        });
        sameInC(rings);
        Use sum = (g, all, x) -> call(g, new Reduce(Reduce.Kind.SUM, List.of(1), false), all);
        Function uneven = BoundStates.bind(keeping(sum, 3, 2), pairs, "m.onnx");
        assertThat(RingStates.of(uneven)).isEqualTo(uneven);
    }

    /** As C, run after run; what the interpreter answers is held against ONNX Runtime above. */
    @Test
    void stateIsKeptInTheGeneratedC() {
        Function plain = OnnxFrontend.read(Transformers.streaming(2), "m.onnx", "m", InputShapes.NONE);
        List<Function> functions = List.of(
                InputValues.parse(Transformers.STATE).withState(plain, "m.onnx"),
                bound("a=previous(a2);b=previous(b2)"));
        List<CompiledModel> compiled = new ArrayList<>();
        List<Interpreter.State> states = new ArrayList<>();
        for (Function function : functions) {
            compiled.add(ModelCompiler.compile(
                    RequestDraft.of(Path.of("m.onnx"), "c -keys=cpu")
                            .name("m" + compiled.size())
                            .build(),
                    function));
            states.add(Interpreter.State.initial(function));
        }
        List<Bytes> inputs = new ArrayList<>();
        ByteArrayOutputStream expected = new ByteArrayOutputStream();
        for (int step = 0; step < 12; step++) {
            for (int i = 0; i < functions.size(); i++) {
                Bytes x = RandomOperators.input(functions.get(i).params().get(0).type(), step);
                inputs.add(x);
                Interpreter.run(functions.get(i), List.of(x), states.get(i))
                        .forEach(answer -> expected.writeBytes(answer.toArray()));
            }
        }
        Bytes actual = HostProgram.build(
                        folder,
                        compiled.stream().map(each -> each.library().metadata()).toList(),
                        compiled.stream()
                                .map(each -> each.library().artifacts().artifacts())
                                .toList())
                .run(inputs);
        assertClose(actual, Bytes.wrap(expected.toByteArray()));
    }

    /** Keys or values (1, 2, 8, 8) without the first of the 8 rows of each head. */
    private static Bytes withoutOldest(Bytes all) {
        ByteBuffer rest = ByteBuffer.allocate(all.size() / 8 * 7);
        byte[] bytes = all.toArray();
        rest.put(bytes, 32, 7 * 32).put(bytes, 8 * 32 + 32, 7 * 32);
        return Bytes.wrap(rest.array());
    }

    private static void assertClose(Bytes actual, Bytes expected) {
        FloatBuffer wanted = expected.buffer().order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
        FloatBuffer given = actual.buffer().order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
        assertThat(given.remaining()).isEqualTo(wanted.remaining()).isPositive();
        while (wanted.hasRemaining()) {
            float real = wanted.get();
            assertThat(Math.abs((double) real - given.get()) / (1 + Math.abs(real)))
                    .isLessThan(1e-5);
        }
    }
}
