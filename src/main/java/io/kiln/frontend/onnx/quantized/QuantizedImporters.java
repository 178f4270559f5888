// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.microsoft;
import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.elementwise.OnnxElementwiseImporters;
import io.kiln.frontend.onnx.layer.OnnxLayerImporters;
import io.kiln.frontend.onnx.operator.BlockWeights;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.frontend.onnx.operator.OnnxRegistration.OnnxImporter;
import io.kiln.frontend.onnx.quantized.QLinearImporters.QLinearFunction;
import io.kiln.frontend.onnx.quantized.QLinearImporters.QLinearLayer;
import io.kiln.frontend.onnx.quantized.QLinearImporters.QLinearPool;
import io.kiln.ir.Constant;
import io.kiln.ir.type.Shape;
import java.util.List;
import java.util.stream.Stream;

/** The table of operators on quantized tensors; and products with weights of few bits. */
public final class QuantizedImporters {
    private static final int ZERO_POINTS = 3;
    private static final int ORDER = 4;
    private static final int BIAS = 5;
    private static final int LEAST_BLOCK = 16;

    public static final List<OnnxRegistration> ALL = List.of(
            onnx("QuantizeLinear", 10, new QuantizeLinearImporter()),
            onnx("DequantizeLinear", 10, new DequantizeLinearImporter()),
            onnx("DynamicQuantizeLinear", QuantizeLinearImporter::dynamic),
            onnx("ConvInteger", new IntegerProduct("Conv", importer("Conv"))),
            onnx("MatMulInteger", new IntegerProduct("MatMul", importer("MatMul"))),
            onnx("QLinearConv", 10, QLinearLayer.of(importer("Conv"))),
            onnx("QLinearMatMul", 10, QLinearLayer.of(importer("MatMul"))),
            microsoft("QuantizeLinear", new QuantizeLinearImporter()),
            microsoft("DequantizeLinear", new DequantizeLinearImporter()),
            microsoft("MatMulNBits", QuantizedImporters::matMulOfBits),
            microsoft("QGemm", QLinearLayer.gemm(importer("Gemm"))),
            microsoft("QLinearConcat", QLinearImporters::concat),
            microsoft("QLinearAdd", QLinearImporters.ADD),
            microsoft("QLinearMul", QLinearImporters.MULTIPLY),
            microsoft("QLinearAveragePool", new QLinearPool("AveragePool", importer("AveragePool"))),
            microsoft("QLinearGlobalAveragePool", new QLinearPool("GlobalAveragePool", importer("GlobalAveragePool"))),
            microsoft("QLinearSigmoid", function("Sigmoid")),
            microsoft("QLinearLeakyRelu", function("LeakyRelu")),
            microsoft("QLinearSoftmax", QLinearImporters::softmax));

    private QuantizedImporters() {}

    private static OnnxImporter function(String operator) {
        return new QLinearFunction(operator, importer(operator));
    }

    /** The importer of an operator on floats. */
    static OnnxImporter importer(String name) {
        return Stream.of(OnnxLayerImporters.ALL, OnnxElementwiseImporters.ALL)
                .flatMap(List::stream)
                .filter(operator -> operator.key().equals(name))
                .findFirst()
                .orElseThrow()
                .importer();
    }

    /**
     * How weights are stored.
     *
     * @param bits of a weight
     * @param block weights of a block
     * @param blocks of a row
     */
    private record Packing(int bits, int block, int blocks) {
        int weight(Constant bytes, int row, int column) {
            int at = block * blocks * row + column;
            return part(bytes, (long) at * bits);
        }

        int zeroPoint(Constant bytes, int row, int ofBlock) {
            int rowBytes = (blocks * bits + Byte.SIZE - 1) / Byte.SIZE;
            return part(bytes, (long) rowBytes * row * Byte.SIZE + (long) ofBlock * bits);
        }

        private int part(Constant bytes, long bit) {
            int all = (int) bytes.integer((int) (bit / Byte.SIZE)) & 0xFF;
            return all >> (int) (bit % Byte.SIZE) & (1 << bits) - 1;
        }
    }

    /**
     * ONNX Runtime's {@code MatMulNBits}: a product with weights of 2, 4 or 8 bits that have a scale and a zero point for each block of a row, {@code
     * (q - zeroPoint) * scale}. They stay integers. Of the weights in a byte the first is in its lowest bits.
     */
    private static void matMulOfBits(NodeContext node) {
        int depth = Math.toIntExact(node.requiredWhole("K"));
        int units = Math.toIntExact(node.requiredWhole("N"));
        int block = Math.toIntExact(node.requiredWhole("block_size"));
        int bits = Math.toIntExact(node.whole("bits", 4));
        node.require(
                List.of(2, 4, 8).contains(bits) && block >= LEAST_BLOCK && Integer.bitCount(block) == 1,
                "its weights have " + bits + " bits in blocks of " + block,
                "2, 4 or 8 bits, and a power of two from " + LEAST_BLOCK + " on");
        node.require(
                !node.has(ORDER) && node.whole("weight_prepacked", 0) == 0,
                "its weights are in another order (g_idx, weight_prepacked)",
                "weights in the order of their rows");
        node.require(
                depth > 0
                        && units > 0
                        && node.shape(0).rank() > 0
                        && node.shape(0).dim(-1) == depth,
                "its K is " + depth + " and its N " + units,
                "the last dimension of " + node.shape(0).text() + ", and a number above 0");
        Packing packing = new Packing(bits, block, (depth - 1) / block + 1);
        node.finish(weights(node, packing, depth, units).product(node, node.arg(0), node.optional(BIAS)));
    }

    /** The weights less half of their range, so that the signed ones of four bits stay four bits. */
    private static BlockWeights weights(NodeContext node, Packing packing, int depth, int units) {
        Constant bytes = node.constant(1, "weights");
        Constant scales = node.constant(2, "scales");
        long blocks = (long) packing.blocks() * units;
        requireSize(node, 1, bytes, blocks * packing.block() * packing.bits() / Byte.SIZE);
        requireSize(node, 2, scales, blocks);
        byte[] weights = new byte[node.tableOf(depth, units)];
        int half = 1 << (packing.bits() - 1);
        for (int i = 0; i < weights.length; i++) {
            weights[i] = (byte) (packing.weight(bytes, i / depth, i % depth) - half);
        }
        float[] zeroPoints = zeroPoints(node, packing, units);
        Shape shape = Shape.of(units, packing.blocks());
        float[] reals = new float[scales.elements()];
        for (int i = 0; i < reals.length; i++) {
            reals[i] = scales.real(i);
            zeroPoints[i] = node.has(ZERO_POINTS) ? zeroPoints[i] - half : 0;
        }
        return new BlockWeights(
                node.bytes(weights, Shape.of(units, depth)),
                node.reals(reals, shape),
                node.reals(zeroPoints, shape),
                Math.min(packing.block(), depth));
    }

    /** The zero point of each block; 0 if there are none. */
    private static float[] zeroPoints(NodeContext node, Packing packing, int units) {
        float[] all = new float[packing.blocks() * units];
        if (!node.has(ZERO_POINTS)) {
            return all;
        }
        Constant zeroPoints = node.constant(ZERO_POINTS, "zero points");
        boolean isPacked = zeroPoints.type().dtype() == DType.UINT8;
        long packed = (long) units * ((packing.blocks() * packing.bits() + Byte.SIZE - 1) / Byte.SIZE);
        requireSize(node, ZERO_POINTS, zeroPoints, isPacked ? packed : all.length);
        node.require(
                isPacked || zeroPoints.type().dtype().isFloat(),
                "its zero points are " + zeroPoints.type().text(),
                "uint8 or floats");
        for (int i = 0; i < all.length; i++) {
            all[i] = isPacked
                    ? packing.zeroPoint(zeroPoints, i / packing.blocks(), i % packing.blocks())
                    : zeroPoints.real(i);
        }
        return all;
    }

    private static void requireSize(NodeContext node, int input, Constant values, long expected) {
        node.require(
                values.elements() == expected,
                "its input " + input + " is " + values.type().text(),
                expected + " elements");
    }
}
