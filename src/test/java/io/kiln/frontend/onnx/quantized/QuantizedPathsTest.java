// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import static io.kiln.frontend.onnx.model.ElementType.INT8;
import static io.kiln.frontend.onnx.model.ElementType.UINT8;

import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.OnnxDraw;
import io.kiln.frontend.onnx.model.ElementType;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Layers between DequantizeLinear and QuantizeLinear answer as in ONNX Runtime, and those with an integer form without floats. */
class QuantizedPathsTest {
    private static final int VERSION = 13;
    private static final List<Integer> IMAGE = List.of(1, 4, 5, 6);

    @TempDir
    private Path folder;

    private RuntimeComparison comparison;
    private ModelBuilder model;
    private Random random;
    private int models;
    private int values;

    @BeforeEach
    void begin() {
        comparison = new RuntimeComparison(folder);
        next(VERSION);
    }

    private void next(int version) {
        model = new ModelBuilder(version);
        random = new Random(models);
    }

    private String name() {
        return "v" + values++;
    }

    private String dequantized(String bytes, ElementType type, float scale, int zero) {
        return model.node(
                "DequantizeLinear",
                List.of(bytes, model.floats(true, scale), model.bytes(type, true, zero)),
                name(),
                Map.of());
    }

    private String input(ElementType type, List<Integer> dims, float scale, int zero) {
        return dequantized(model.input("x" + values++, type, dims), type, scale, zero);
    }

    /** Constant bytes with several scales along an axis, or with one. */
    private String weight(List<Integer> dims, int axis, float... scales) {
        byte[] data = new byte[dims.stream().reduce(1, (a, b) -> a * b)];
        random.nextBytes(data);
        boolean isOne = scales.length == 1;
        return model.node(
                "DequantizeLinear",
                List.of(
                        model.constant(INT8, dims, data),
                        model.floats(isOne, scales),
                        model.bytes(INT8, isOne, new int[scales.length])),
                name(),
                isOne ? Map.of() : Map.of("axis", (long) axis));
    }

    private String bias(int count, float scale) {
        int[] words = random.ints(count, -2000, 2000).toArray();
        return model.node("DequantizeLinear", List.of(model.words(words), model.floats(true, scale)), name(), Map.of());
    }

    private String node(String operator, Map<String, Object> attributes, String... inputs) {
        return model.node(operator, List.of(inputs), name(), attributes);
    }

    /** Ends the model with bytes of a value. */
    private void end(String what, String real, ElementType type, float scale, int zero) {
        String result = model.node(
                "QuantizeLinear",
                List.of(real, model.floats(true, scale), model.bytes(type, true, zero)),
                name(),
                Map.of());
        finish(what, result, type);
    }

    private void finish(String what, String result, ElementType type) {
        model.output(result, type);
        comparison.add(models++, new OnnxDraw.Model(what, model.build()), 1);
        next(VERSION);
    }

    @Test
    void partsAreQuantizedBeforeTheyAreMoved() {
        String first = input(UINT8, IMAGE, 0.02f, 120);
        end("Concat", node("Concat", Map.of("axis", 1L), first, input(INT8, IMAGE, 0.03f, 5)), INT8, 0.025f, -3);
        String part = weight(List.of(1, 2, 5, 6), 0, 0.02f);
        String joined = node("Concat", Map.of("axis", 1L), input(INT8, IMAGE, 0.02f, 3), part);
        end("Concat with a constant", joined, UINT8, 0.02f, 100);
        for (String mode : List.of("constant", "edge", "reflect")) {
            String data = input(INT8, IMAGE, 0.02f, 7);
            String pads = model.longs(false, 0, 0, 1, 2, 0, 0, 2, 1);
            boolean isConstant = mode.equals("constant");
            String padded = isConstant
                    ? node("Pad", Map.of(), data, pads, model.floats(true, 0.37f))
                    : node("Pad", Map.of("mode", mode), data, pads);
            end("Pad " + mode, padded, INT8, isConstant ? 0.03f : 0.02f, 7);
        }
        Map<String, Object> nearest = new LinkedHashMap<>();
        nearest.put("mode", "nearest");
        nearest.put("coordinate_transformation_mode", "asymmetric");
        nearest.put("nearest_mode", "floor");
        String twice = model.floats(false, 1, 1, 2, 2);
        String empty = model.floats(false);
        end("Resize", node("Resize", nearest, input(INT8, IMAGE, 0.02f, 7), empty, twice), INT8, 0.01f, 0);
        assertIntegers();
    }

    @Test
    void layersAreComputedInIntegersBeforeTheyAreMoved() {
        String data = input(INT8, IMAGE, 0.02f, 7);
        String sum = node("Conv", Map.of(), data, weight(List.of(4, 4, 3, 3), 0, 0.01f, 0.02f, 0.005f, 0.01f));
        String moved = node("Transpose", Map.of("perm", List.of(0L, 2L, 3L, 1L)), node("Relu", Map.of(), sum));
        end("Conv, Relu and Transpose", moved, UINT8, 0.08f, 3);
        assertIntegers();
    }

    @Test
    void productsOfTwoComputedMatricesAreIntegers() {
        List<Integer> heads = List.of(2, 3, 7);
        String keys = input(INT8, List.of(2, 7, 5), 0.03f, -4);
        end("MatMul of stacks", node("MatMul", Map.of(), input(UINT8, heads, 0.02f, 120), keys), INT8, 0.09f, 1);
        String right = input(INT8, List.of(6, 4), 0.02f, 9);
        end("MatMul", node("MatMul", Map.of(), input(INT8, List.of(3, 6), 0.02f, 3), right), UINT8, 0.07f, 130);
        List<String> inputs = new ArrayList<>();
        for (List<Integer> dims : List.of(heads, List.of(2, 7, 4))) {
            inputs.add(model.input("x" + values++, UINT8, dims));
            inputs.addAll(List.of(model.floats(true, 0.02f), model.bytes(UINT8, true, 100 + values)));
        }
        inputs.addAll(List.of(model.floats(true, 0.08f), model.bytes(UINT8, true, 128)));
        finish("QLinearMatMul", model.node("QLinearMatMul", inputs, name(), Map.of()), UINT8);
        assertIntegers();
    }

    @Test
    void transposedConvolutionsAreIntegers() {
        Map<String, Object> strides = Map.of("strides", List.of(2L, 2L));
        float[] scales = {0.01f, 0.02f, 0.005f};
        String data = input(UINT8, IMAGE, 0.02f, 99);
        end(
                "ConvTranspose",
                node("ConvTranspose", strides, data, weight(List.of(4, 3, 3, 3), 1, scales)),
                INT8,
                0.1f,
                3);
        String weight = weight(List.of(4, 2, 2, 2), 0, 0.01f);
        String biased = node("ConvTranspose", strides, input(INT8, IMAGE, 0.02f, 9), weight, bias(2, 0.02f * 0.01f));
        end("ConvTranspose with a bias", biased, INT8, 0.05f, 3);
        assertIntegers();
    }

    @Test
    void factorsOfAMatrixProductArePartOfItsScales() {
        Map<String, Object> factors = new LinkedHashMap<>(Map.of("alpha", 0.5f, "beta", 0.25f, "transA", 1L));
        String data = input(INT8, List.of(8, 3), 0.02f, 9);
        end(
                "Gemm",
                node("Gemm", factors, data, weight(List.of(8, 5), 0, 0.01f), bias(5, 2 * 0.02f * 0.01f)),
                INT8,
                0.04f,
                3);
        assertIntegers();
    }

    @Test
    void severalFunctionsOfOneTensorAreOneTable() {
        String x = input(INT8, IMAGE, 0.04f, 9);
        end("SiLU", node("Mul", Map.of(), x, node("Sigmoid", Map.of(), x)), INT8, 0.03f, -100);
        String y = input(UINT8, IMAGE, 0.04f, 128);
        String three = model.floats(true, 3);
        String limited = node("Clip", Map.of(), node("Add", Map.of(), y, three), model.floats(true, 0), three);
        end("swish of clips", node("Mul", Map.of(), limited, y), UINT8, 0.1f, 30);
        String z = input(INT8, IMAGE, 0.04f, 9);
        String erf = node("Erf", Map.of(), node("Div", Map.of(), z, model.floats(true, 1.4142135f)));
        String one = node("Add", Map.of(), erf, model.floats(true, 1));
        String gelu = node("Mul", Map.of(), node("Mul", Map.of(), z, one), model.floats(true, 0.5f));
        end("GELU", gelu, INT8, 0.03f, -100);
        assertIntegers();
    }

    /** An image is converted, scaled, and normalized for each channel by the model itself. */
    @Test
    void bytesThatTheModelConvertsAreIntegers() {
        for (ElementType type : List.of(UINT8, INT8)) {
            List<Integer> dims = List.of(1, 2, 5, 5);
            String real = node("Cast", Map.of("to", 1L), model.input("x" + values++, type, dims));
            String scaled = node("Div", Map.of(), real, model.floats(true, 255));
            String mean = node("Reshape", Map.of(), model.floats(false, 0.485f, 0.406f), model.longs(false, 2, 1, 1));
            String normal = node("Div", Map.of(), node("Sub", Map.of(), scaled, mean), model.floats(true, 0.229f));
            end("normalized image", normal, INT8, 0.03f, -12);
            String data = node("Cast", Map.of("to", 1L), model.input("x" + values++, type, dims));
            end("Conv of an image", node("Conv", Map.of(), data, weight(List.of(3, 2, 3, 3), 0, 0.01f)), INT8, 2f, 3);
        }
        assertIntegers();
    }

    @Test
    void windowsBeyondTheDataCountAsBeforeVersion19() {
        for (int version : List.of(13, 19)) {
            next(version);
            Map<String, Object> window = ModelBuilder.window(3, 1, 2);
            window.putAll(Map.of("ceil_mode", 1L, "count_include_pad", 1L));
            end("AveragePool", node("AveragePool", window, input(INT8, IMAGE, 0.04f, 9)), INT8, 0.03f, 2);
        }
        assertIntegers();
    }

    @Test
    void biasesOnAnyScaleArePartOfTheRescaling() {
        String data = input(INT8, IMAGE, 0.02f, 7);
        String weight = weight(List.of(2, 4, 1, 1), 0, 0.01f);
        String otherBias = bias(2, 3 * 0.02f * 0.01f);
        end("Conv", node("Conv", Map.of(), data, weight, otherBias), INT8, 0.05f, 3);
        String one = weight(List.of(6, 1), 1, 0.01f);
        String scalar = model.floats(true, 0.123f);
        end("Gemm", node("Gemm", Map.of(), input(INT8, List.of(3, 6), 0.02f, 3), one, scalar), INT8, 0.05f, 3);
        assertIntegers();
    }

    /** Halves of which some are rounded up and others down are no floor of a product: a table of steps is searched. */
    @Test
    void halvesOfRealBiasesAreRoundedToEven() {
        String wide = weight(List.of(4, 4, 3, 3), 0, 0.0625f);
        String bias = model.floats(false, 0.5f, 0.25f, 3.0625f / 16, -0.5f / 3);
        String data = input(INT8, IMAGE, 0.125f, 7);
        end("Conv", node("Conv", Map.of(), data, wide, bias), INT8, 0.25f, 3);
        assertIntegers();
    }

    /** Scales that are not those of channels stay real. */
    @Test
    void parametersThatDoNotFitIntegersKeepTheirMeaning() {
        float[] rows = {0.01f, 0.02f, 0.03f};
        String square = weight(List.of(3, 3), 0, rows);
        end("Gemm", node("Gemm", Map.of(), input(INT8, List.of(2, 3), 0.02f, 7), square), INT8, 0.05f, 3);
        comparison.assertAnswers();
    }

    private void assertIntegers() {
        comparison.assertNoFloats();
        comparison.assertAnswers();
    }
}
