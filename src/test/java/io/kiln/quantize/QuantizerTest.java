// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.tflite.write.TfliteMaker;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Verifier;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.LeakyRelu;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.layer.Svdf;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.text.RelayPrinter;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.quantize.QuantizeOptions.Equalize;
import io.kiln.quantize.QuantizeOptions.Limits;
import io.kiln.quantize.QuantizeOptions.QuantizeMode;
import io.kiln.quantize.plan.Plan.PlannedNode;
import io.kiln.quantize.plan.Precision;
import io.kiln.quantize.quality.Evaluation;
import io.kiln.quantize.range.Calibration.RangeMethod;
import io.kiln.quantize.run.Runs;
import io.kiln.quantize.sample.Sample;
import io.kiln.reference.Interpreter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class QuantizerTest {
    private static final Window SAME = Window.of(3, 3).padded(1, 1, 1, 1);

    private final FloatNet net = new FloatNet(3);

    private static Quantized quantized(Function model, QuantizeOptions options) {
        return new Quantizer(new TfliteMaker("net"), Runs.Progress.NONE)
                .quantize(model, FloatNet.samples(model, 12, 1), options);
    }

    private static QuantizeOptions keeping(String... names) {
        return new QuantizeOptions(
                QuantizeMode.INT8, RangeMethod.MINMAX, Equalize.AUTO, List.of(names), false, Limits.NONE);
    }

    private Function chain() {
        Arg.Ref first = net.relu(net.depthwise(net.conv(net.input(1, 6, 6, 3), SAME, 4), SAME));
        return net.function(net.conv(first, SAME, 2));
    }

    private static List<Precision> precisions(Quantized quantized) {
        return quantized.network().plan().nodes().stream()
                .map(PlannedNode::precision)
                .toList();
    }

    /** The branch of negative bases, whose results are NaN, is no value of its own. */
    @Test
    void aModelWithPowersIsQuantized() {
        ModelBuilder onnx = new ModelBuilder(13);
        String square = onnx.node(
                "Mul", List.of(onnx.input("x", ElementType.FLOAT, List.of(1, 3, 4, 4)), "x"), "square", Map.of());
        String base = onnx.node("Add", List.of(square, onnx.floats(true, 2)), "base", Map.of());
        onnx.output(onnx.node("Pow", List.of(base, onnx.floats(true, 0.75f)), "y", Map.of()), ElementType.FLOAT);
        Function model = OnnxFrontend.read(onnx.build(), "m.onnx", "m", InputShapes.NONE);
        assertThat(quantized(model, QuantizeOptions.of(QuantizeMode.INT8))
                        .quality()
                        .sqnr())
                .isGreaterThan(20);
    }

    @ParameterizedTest
    @EnumSource
    void theSameBytesWithAnyNumberOfThreads(RangeMethod method) throws Exception {
        Function model = chain();
        QuantizeOptions options =
                new QuantizeOptions(QuantizeMode.INT8, method, Equalize.AUTO, List.of(), false, Limits.NONE);
        List<RelayPrinter.Module> results = new ArrayList<>();
        for (int threads : new int[] {1, 4}) {
            ForkJoinPool pool = new ForkJoinPool(threads);
            try {
                results.add(RelayPrinter.withParameters(
                        pool.submit(() -> quantized(model, options)).get().function()));
            } finally {
                pool.shutdown();
            }
        }
        assertThat(results.get(1).text()).isEqualTo(results.get(0).text());
        assertThat(results.get(1).parameters()).isEqualTo(results.get(0).parameters());
    }

    @Test
    void namesChooseTheLayersThatStayFloat() {
        Function model = chain();
        assertThat(precisions(quantized(model, keeping("t2"))))
                .containsExactly(Precision.FLOAT, Precision.INT8, Precision.INT8);
        assertThat(precisions(quantized(model, keeping("t*")))).containsOnly(Precision.FLOAT);
        assertThatThrownBy(() -> quantized(model, keeping("t9x", "u")))
                .hasMessageContaining("no layer is named `t9x`")
                .hasMessageContaining("no layer is named `u`");
    }

    @Test
    void anOperatorThatTensorflowLiteLacksStaysFloatAndThereIsNoFile() {
        Arg.Ref rounded = net.bind(new Unary(Unary.Kind.ROUND_AWAY), net.conv(net.input(1, 6, 6, 3), SAME, 4));
        Function model = net.function(net.conv(rounded, SAME, 2));
        Quantized quantized = quantized(model, QuantizeOptions.of(QuantizeMode.INT8));
        Verifier.verify(quantized.function());
        assertThat(quantized.network().missing()).containsExactly("round");
        assertThat(quantized.network().file()).isEmpty();
        assertThat(quantized.function().opaque()).isEmpty();
        assertThat(quantized.function().bindings())
                .extracting(b -> b.op().name())
                .contains("round", "qnn.dequantize");
        assertThat(quantized.quality().sqnr()).isGreaterThan(5);
    }

    @Test
    void stateThatStaysFloatIsKept() {
        Arg.Ref state = net.variable(1, 8);
        Arg.Ref slot = net.variable(new TensorType(Shape.of(1), DType.INT32));
        Arg.Ref svdf = net.bind(
                new Svdf(1, 0, 0, 0),
                net.relu(net.dense(net.input(1, 5), 3)),
                net.constant(1, 4, 3),
                net.constant(1, 4, 2),
                net.constant(1, 4),
                state,
                slot,
                Constant.scalar(1),
                Constant.scalar(0),
                Constant.scalar(1),
                Constant.scalar(0));
        Function model = net.function(net.dense(svdf, 2));
        Quantized quantized = quantized(model, keeping("t" + svdf.id()));
        Verifier.verify(quantized.function());
        assertThat(quantized.network().missing()).isEmpty();
        assertThat(quantized.function().variables())
                .extracting(v -> v.type().dtype())
                .containsExactly(DType.FLOAT32, DType.INT32);
        assertThat(precisions(quantized)).containsExactly(Precision.INT8, Precision.FLOAT, Precision.INT8);
        assertSecondRunRemembersTheFirst(model, quantized.function());
    }

    private static void assertSecondRunRemembersTheFirst(Function model, Function quantized) {
        List<Sample> samples = FloatNet.samples(model, 2, 7);
        Interpreter.State state = Interpreter.State.initial(quantized);
        Interpreter.run(quantized, Evaluation.inputs(quantized, samples.get(0)), state);
        List<Bytes> second = Evaluation.inputs(quantized, samples.get(1));
        assertThat(Interpreter.run(quantized, second, state)).isNotEqualTo(Interpreter.run(quantized, second));
    }

    @Test
    void inputsThatAreNotFloatAreRefused() {
        Quantized once = quantized(chain(), QuantizeOptions.of(QuantizeMode.INT8));
        assertThatThrownBy(() -> quantized(once.function(), QuantizeOptions.of(QuantizeMode.INT8)))
                .hasMessageContaining("the model has no float inputs")
                .hasMessageContaining("kiln.quantize");
    }

    @Test
    void aModelThatIsQuantizedBetweenFloatsIsRefused() {
        QuantizeOptions options =
                new QuantizeOptions(QuantizeMode.INT8, RangeMethod.MINMAX, Equalize.AUTO, List.of(), true, Limits.NONE);
        Quantized once = quantized(chain(), options);
        assertThatThrownBy(() -> quantized(once.function(), options))
                .hasMessageContaining("the model has quantized operators already");
    }

    @Test
    void rangesThatExplodeAreRefusedByName() {
        Arg.Ref exp = net.bind(new Unary(Unary.Kind.EXP), net.input(1, 4));
        for (int i = 0; i < 4; i++) {
            exp = net.bind(new Unary(Unary.Kind.EXP), net.bind(new Binary(Binary.Kind.MULTIPLY), exp, exp));
        }
        Function model = net.function(net.dense(exp, 2));
        assertThatThrownBy(() -> quantized(model, QuantizeOptions.of(QuantizeMode.INT8)))
                .hasMessageContaining("to Infinity")
                .hasMessageContaining("net: operator #");
    }

    @Test
    void anInputTooWideForAScaleIsRefusedByName() {
        Function model = net.function(net.bind(new LeakyRelu(0.1f), net.input(1, 2)));
        ByteBuffer wide = ByteBuffer.allocate(2 * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        wide.putFloat(-3e38f).putFloat(3e38f);
        Sample sample = new Sample("sample 0", List.of(Bytes.wrap(wide.array())));
        Quantizer quantizer = new Quantizer(new TfliteMaker("net"), Runs.Progress.NONE);
        assertThatThrownBy(() -> quantizer.quantize(model, List.of(sample), QuantizeOptions.of(QuantizeMode.INT8)))
                .hasMessageContaining("the values of input `in0` range from -3.0E38 to 3.0E38")
                .hasMessageContaining("scaled as in training");
    }

    @Test
    void aLabelBeyondTheClassesIsRefused() {
        Function model = net.function(net.dense(net.bind(new Reshape(Shape.of(1, 4)), net.input(1, 2, 2)), 3));
        Sample sample = FloatNet.samples(model, 1, 1).get(0);
        Sample labelled = new Sample(sample.name(), sample.inputs(), Optional.of(3));
        Quantizer quantizer = new Quantizer(new TfliteMaker("net"), Runs.Progress.NONE);
        assertThatThrownBy(() -> quantizer.quantize(model, List.of(labelled), QuantizeOptions.of(QuantizeMode.INT8)))
                .hasMessageContaining("the label of sample 0 is 3")
                .hasMessageContaining("0 to 2");
    }

    /** More samples than a trial looks at: the advice of keeping a layer float gives just what the parameter gives. */
    @Test
    void whatIsAdvisedIsMeasuredAsTheParametersDoIt() {
        Function model = chain();
        List<Sample> samples = FloatNet.samples(model, 40, 1);
        Quantizer quantizer = new Quantizer(new TfliteMaker("net"), Runs.Progress.NONE);
        Quantized quantized = quantizer.quantize(model, samples, QuantizeOptions.of(QuantizeMode.INT8));
        assertThat(quantized.advice()).isNotEmpty().hasSizeLessThanOrEqualTo(3);
        assertThat(quantized.advice())
                .isSortedAccordingTo(
                        Comparator.comparingDouble(Quantized.Advice::sqnr).reversed())
                .allMatch(advice -> advice.sqnr() >= quantized.quality().sqnr() + 0.1);
        Quantized.Advice real = quantized.advice().stream()
                .filter(advice -> advice.precision().equals("float"))
                .findFirst()
                .orElseThrow();
        Quantized followed = quantizer.quantize(model, samples, keeping(real.layer()));
        assertThat(followed.quality().sqnr()).isEqualTo(real.sqnr());
    }

    /** The layer and its data are exact in int8: all noise is that of the result's own scale, 1/256. */
    @Test
    void whereNothingIsToBeGainedNothingIsAdvised() {
        float[] identity = new float[16];
        IntStream.range(0, 4).forEach(i -> identity[5 * i] = 1);
        TensorType type = new TensorType(Shape.of(4, 4), DType.FLOAT32);
        Constant weights =
                new Constant("weights", type, Constant.vector(identity).data());
        Function model = net.function(net.bind(new Softmax(1), net.bind(new Dense(4), net.input(1, 4), weights)));
        List<Sample> samples = new ArrayList<>();
        for (int k = 0; k < 12; k++) {
            ByteBuffer data = ByteBuffer.allocate(4 * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            for (int value : new int[] {-128 + k, 127 - 2 * k, 7 * k, 3 - 5 * k}) {
                data.putFloat(value / 64f);
            }
            samples.add(new Sample("sample " + k, List.of(Bytes.wrap(data.array()))));
        }
        Quantized quantized = new Quantizer(new TfliteMaker("net"), Runs.Progress.NONE)
                .quantize(model, samples, QuantizeOptions.of(QuantizeMode.INT8));
        assertThat(quantized.quality().sqnr()).isBetween(40.0, 70.0);
        assertThat(quantized.quality().nodes()).hasSize(2);
        assertThat(quantized.advice()).isEmpty();
    }

    @Test
    void aSearchStopsAsSoonAsTheLimitIsKept() {
        Function model = chain();
        double whole = quantized(model, QuantizeOptions.of(QuantizeMode.INT8))
                .quality()
                .sqnr();
        QuantizeOptions options = new QuantizeOptions(
                QuantizeMode.AUTO,
                RangeMethod.MINMAX,
                Equalize.AUTO,
                List.of(),
                true,
                new Limits(Optional.empty(), Optional.of(whole + 1)));
        Quantized mixed = quantized(model, options);
        assertThat(mixed.trials()).hasSizeGreaterThan(1);
        assertThat(mixed.trials().get(mixed.trials().size() - 1).isEnough()).isTrue();
        assertThat(mixed.quality().sqnr()).isGreaterThan(whole + 1);
    }
}
