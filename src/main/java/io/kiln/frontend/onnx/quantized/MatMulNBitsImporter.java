// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.type.Shape;
import java.util.List;

/**
 * ONNX Runtime's {@code MatMulNBits}: a product with weights of 2, 4 or 8 bits that have a scale and a zero point for each block of a row, {@code
 * (q - zeroPoint) * scale}. They become floats. Of the weights in a byte the first is in its lowest bits.
 */
final class MatMulNBitsImporter implements OnnxImporter {
    private static final int ZERO_POINTS = 3;
    private static final int ORDER = 4;
    private static final int BIAS = 5;
    private static final int LEAST_BLOCK = 16;

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

    @Override
    public void emit(NodeContext node) {
        int depth = Math.toIntExact(node.attributes().requiredWhole("K"));
        int units = Math.toIntExact(node.attributes().requiredWhole("N"));
        int block = Math.toIntExact(node.attributes().requiredWhole("block_size"));
        int bits = Math.toIntExact(node.attributes().whole("bits", 4));
        node.require(
                List.of(2, 4, 8).contains(bits) && block >= LEAST_BLOCK && Integer.bitCount(block) == 1,
                "its weights have " + bits + " bits in blocks of " + block,
                "2, 4 or 8 bits, and a power of two from " + LEAST_BLOCK + " on");
        node.require(
                !node.has(ORDER) && node.attributes().whole("weight_prepacked", 0) == 0,
                "its weights are in another order (g_idx, weight_prepacked)",
                "weights in the order of their rows");
        node.require(
                depth > 0
                        && units > 0
                        && node.shape(0).rank() > 0
                        && node.shape(0).dim(-1) == depth,
                "its K is " + depth + " and its N " + units,
                "the last dimension of " + node.shape(0).text() + ", and a number above 0");
        Expressions e = new Expressions(node);
        Packing packing = new Packing(bits, block, (depth - 1) / block + 1);
        Arg weights = e.reals(weights(node, e, packing, depth, units), Shape.of(depth, units));
        Arg product = e.product(node.arg(0), weights);
        node.finish(node.has(BIAS) ? e.add(product, node.arg(BIAS)) : product);
    }

    private static float[] weights(NodeContext node, Expressions e, Packing packing, int depth, int units) {
        Constant bytes = node.constant(1, "weights");
        Constant scales = node.constant(2, "scales");
        long blocks = (long) packing.blocks() * units;
        requireSize(node, 1, bytes, blocks * packing.block() * packing.bits() / Byte.SIZE);
        requireSize(node, 2, scales, blocks);
        boolean hasZeroPoints = node.has(ZERO_POINTS);
        Constant zeroPoints = hasZeroPoints ? node.constant(ZERO_POINTS, "zero points") : scales;
        boolean isPacked = zeroPoints.type().dtype() == DType.UINT8;
        long packed = (long) units * ((packing.blocks() * packing.bits() + Byte.SIZE - 1) / Byte.SIZE);
        requireSize(node, ZERO_POINTS, zeroPoints, isPacked ? packed : blocks);
        node.require(
                isPacked || zeroPoints.type().dtype().isFloat(),
                "its zero points are " + zeroPoints.type().text(),
                "uint8 or floats");
        float[] weights = new float[e.tableOf(depth, units)];
        for (int row = 0; row < units; row++) {
            for (int k = 0; k < depth; k++) {
                int at = row * packing.blocks() + k / packing.block();
                float zeroPoint = !hasZeroPoints
                        ? 1 << (packing.bits() - 1)
                        : isPacked ? packing.zeroPoint(zeroPoints, row, k / packing.block()) : zeroPoints.real(at);
                weights[k * units + row] = (packing.weight(bytes, row, k) - zeroPoint) * scales.real(at);
            }
        }
        return weights;
    }

    private static void requireSize(NodeContext node, int input, Constant values, long expected) {
        node.require(
                values.elements() == expected,
                "its input " + input + " is " + values.type().text(),
                expected + " elements");
    }
}
