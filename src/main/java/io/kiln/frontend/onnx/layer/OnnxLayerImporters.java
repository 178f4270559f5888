// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.layer;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.microsoft;
import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.onnx.layer.OnnxConvolutionImporter.OnnxTransposedConvolutionImporter;
import io.kiln.frontend.onnx.operator.BlockWeights;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.frontend.onnx.reduce.ReduceImporters;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.movement.Take;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The table of layers; and matrix products, boxes of images, and classification losses, as sums of values that a model computes anyway. */
public final class OnnxLayerImporters {
    private static final int IMAGE_RANK = 4;
    private static final int WITH_MODE = 16;
    private static final int MOST = 256;

    private static final List<OnnxRegistration> OWN = List.of(
            onnx("Conv", new OnnxConvolutionImporter()),
            onnx("ConvTranspose", new OnnxTransposedConvolutionImporter()),
            onnx("Gemm", OnnxLayerImporters::gemm),
            onnx("MatMul", OnnxLayerImporters::matMul),
            onnx("Attention", 23, new AttentionImporter()),
            onnx("RotaryEmbedding", 23, new AttentionImporter.RotaryEmbeddingImporter(false)),
            microsoft("RotaryEmbedding", new AttentionImporter.RotaryEmbeddingImporter(true)),
            onnx("RoiAlign", OnnxLayerImporters::roiAlign),
            onnx("NegativeLogLikelihoodLoss", OnnxLayerImporters::likelihood),
            onnx("SoftmaxCrossEntropyLoss", OnnxLayerImporters::crossEntropy));

    public static final List<OnnxRegistration> ALL = Stream.of(OWN, OnnxPools.ALL, OnnxNormalizations.ALL)
            .flatMap(List::stream)
            .toList();

    private OnnxLayerImporters() {}

    private static void matMul(NodeContext node) {
        node.requireFloats(0);
        Shape data = node.shape(0);
        node.finish(BlockWeights.of(node, 1, 1)
                .filter(weights -> data.rank() > 0 && data.elements() > 0 && data.dim(-1) == weights.depth())
                .map(weights -> weights.product(node, node.arg(0)))
                .orElseGet(() -> node.product(node.arg(0), node.arg(1))));
    }

    /** {@code alpha * A * B + beta * C}, with A and B transposed on request, and C broadcast. */
    private static void gemm(NodeContext node) {
        for (int i = 0; i < 2; i++) {
            node.require(
                    node.shape(i).rank() == 2,
                    "its input " + i + " is " + node.shape(i).text(),
                    "a matrix");
        }
        node.requireFloats(0);
        Arg a = node.truth("transA", false) ? node.transpose(node.arg(0), List.of(1, 0)) : node.arg(0);
        boolean isTransposed = node.truth("transB", false);
        float alpha = node.real("alpha", 1);
        Shape data = node.shape(a);
        Arg product = BlockWeights.of(node, 1, isTransposed ? 0 : 1)
                .filter(weights -> alpha == 1 && data.elements() > 0 && data.dim(1) == weights.depth())
                .map(weights -> weights.product(node, a))
                .orElseGet(() -> dense(node, a, isTransposed, alpha));
        node.finish(node.has(2) ? sum(node, product) : product);
    }

    private static Arg dense(NodeContext node, Arg a, boolean isTransposed, float alpha) {
        Arg b = isTransposed ? node.arg(1) : node.transpose(node.arg(1), List.of(1, 0));
        if (alpha != 1) {
            b = node.multiply(b, alpha);
        }
        return node.emit(new Dense(node.shape(b).dim(0)), a, b);
    }

    private static Arg sum(NodeContext node, Arg product) {
        float beta = node.real("beta", 1);
        Arg bias = beta == 1 ? node.arg(2) : node.multiply(node.arg(2), node.real(beta));
        Shape shape = node.shape(bias);
        int units = node.shape(product).dim(1);
        boolean isVector = shape.rank() > 0 && shape.elements() == units && shape.dim(-1) == units;
        return isVector
                ? node.emit(new BiasAdd(-1), product, node.reshape(bias, List.of(units)))
                : node.add(product, bias);
    }

    private static void likelihood(NodeContext node) {
        node.finish(loss(node, node.arg(0)));
    }

    private static void crossEntropy(NodeContext node) {
        Arg data = node.arg(0);
        List<Integer> classes = List.of(1);
        Arg lowered = node.subtract(data, node.reduce(Reduce.Kind.MAX, data, classes));
        Arg sum = node.reduce(Reduce.Kind.SUM, node.exp(lowered), classes);
        Arg logarithms = node.subtract(lowered, node.log(sum));
        node.finish(0, loss(node, logarithms));
        node.finish(1, logarithms);
    }

    /** The weighted negative element of each target's class; targets of one class may count nothing. */
    private static Arg loss(NodeContext node, Arg logarithms) {
        Shape shape = node.shape(logarithms);
        Shape targets = node.shape(1);
        int places = Math.toIntExact(targets.elements());
        Arg target = node.reshape(node.cast(node.arg(1), DType.INT32), List.of(places));
        Optional<Arg> isIgnored =
                node.whole("ignore_index").map(ignored -> node.equal(target, node.number(ignored, DType.INT32)));
        Arg zero = node.number(0, DType.INT32);
        Arg index = isIgnored.map(mask -> node.where(mask, zero, target)).orElse(target);
        List<Integer> axes = new ArrayList<>(List.of(0));
        IntStream.range(2, shape.rank()).forEach(axes::add);
        axes.add(1);
        Arg rows = node.reshape(node.transpose(logarithms, axes), List.of(places, shape.dim(1)));
        Arg picked = node.emit(new Take(1, 1), rows, node.reshape(index, List.of(places, 1)));
        Arg loss = node.negate(node.reshape(picked, List.of(places)));
        Arg one = node.real(1);
        Arg weights = node.has(2) ? node.take(node.arg(2), index, 0) : node.broadcast(one, Shape.of(places));
        if (isIgnored.isPresent()) {
            weights = node.where(isIgnored.orElseThrow(), node.real(0), weights);
        }
        Arg weighted = node.multiply(loss, weights);
        Arg total = total(node, node.reshape(weighted, targets));
        return switch (node.text("reduction", "mean")) {
            case "none" -> node.reshape(weighted, targets);
            case "sum" -> total;
            case "mean" -> node.divide(total, total(node, node.reshape(weights, targets)));
            default -> throw node.failure("its reduction is unknown", "none, sum or mean");
        };
    }

    private static Arg total(Formulas e, Arg data) {
        List<Integer> axes = IntStream.range(0, e.shape(data).rank()).boxed().toList();
        return e.reshape(ReduceImporters.sumByAxis(e, data, axes), List.of());
    }

    /**
     * Samples along one axis of all boxes.
     *
     * @param low int32, the pixel before each sample
     * @param high the one behind it
     * @param rest distance of the sample from the former
     * @param weight 1; 0 for samples far outside
     */
    private record Samples(Arg low, Arg high, Arg rest, Arg weight) {}

    /**
     * {@code RoiAlign} with the mean: boxes of images, each divided into as many bins as the result has pixels. A bin is the mean of
     * {@code sampling_ratio} squared samples, which are interpolated between four pixels and 0 far outside the image.
     */
    private static void roiAlign(NodeContext node) {
        Shape data = node.shape(0);
        Shape boxes = node.shape(1);
        node.require(
                data.rank() == IMAGE_RANK && boxes.rank() == 2 && boxes.dim(1) == 4,
                "its data is " + data.text() + " and its boxes are " + boxes.text(),
                "images, and four numbers for each box");
        String mode = node.text("mode", "avg");
        node.require(mode.equals("avg"), "its mode is `" + mode + "`", "avg");
        int ratio = size(node, "sampling_ratio", 0);
        int height = size(node, "output_height", 1) * ratio;
        int width = size(node, "output_width", 1) * ratio;
        Samples rows = samples(node, 1, height, ratio);
        Samples columns = samples(node, 0, width, ratio);
        Arg image = interpolated(node, rows, columns);
        Arg mean = node.emit(new AvgPool2d(Window.of(ratio, ratio).strided(ratio, ratio)), image);
        node.finish(Spatial.channelsFirst(node, mean));
    }

    private static int size(NodeContext node, String name, int otherwise) {
        long size = node.whole(name, otherwise);
        node.require(
                size > 0 && size <= MOST,
                "its " + name + " is " + size,
                "1 to " + MOST + ": the number of samples is known at build time");
        return (int) size;
    }

    /** The samples along the columns (axis 0) or rows (1) of the images; they vary along dimension 1 or 2 of (box, row, column, 1). */
    private static Samples samples(NodeContext node, int axis, int count, int ratio) {
        boolean isHalfPixel = node.version() >= WITH_MODE
                && node.text("coordinate_transformation_mode", "half_pixel").equals("half_pixel");
        double scale = node.real("spatial_scale", 1f);
        int boxes = node.shape(1).dim(0);
        Arg scaled = node.add(node.multiply(node.arg(1), scale), isHalfPixel ? -0.5 : 0);
        Arg first = node.slice(scaled, 1, axis, axis + 1);
        Arg extent = node.subtract(node.slice(scaled, 1, axis + 2, axis + 3), first);
        Arg one = node.real(1);
        Arg bin = node.multiply(isHalfPixel ? extent : node.maximum(extent, one), (double) ratio / count);
        Constant steps = Constant.reals("", Shape.of(1, count), i -> (i + 0.5f) / ratio);
        Arg place = node.add(first, node.multiply(bin, steps));
        List<Integer> dims = axis == 0 ? List.of(boxes, 1, count, 1) : List.of(boxes, count, 1, 1);
        return samples(node, node.reshape(place, dims), node.shape(0).dim(IMAGE_RANK - 1 - axis));
    }

    private static Samples samples(Formulas e, Arg place, int size) {
        Arg zero = e.real(0);
        Arg last = e.real(size - 1);
        Arg within = e.minimum(e.maximum(place, zero), last);
        Arg low = e.unary(Unary.Kind.FLOOR, within);
        Arg high = e.minimum(e.add(low, 1), last);
        Arg isInside = e.and(
                e.binary(Binary.Kind.GREATER_EQUAL, place, e.real(-1)),
                e.binary(Binary.Kind.LESS_EQUAL, place, e.real(size)));
        return new Samples(
                e.cast(low, DType.INT32),
                e.cast(high, DType.INT32),
                e.subtract(within, low),
                e.where(isInside, e.real(1), zero));
    }

    /** The samples of all boxes: (box, row, column, channel). */
    private static Arg interpolated(NodeContext node, Samples rows, Samples columns) {
        Shape data = node.shape(0);
        int height = data.dim(2);
        int width = data.dim(3);
        Arg pixels = node.reshape(
                Spatial.channelsLast(node, node.arg(0)), List.of(data.dim(0) * height * width, data.dim(1)));
        Arg image = node.multiply(
                node.reshape(node.indices(node.arg(2)), List.of(node.shape(1).dim(0), 1, 1, 1)), height);
        List<Arg> terms = new ArrayList<>();
        for (int corner = 0; corner < 4; corner++) {
            boolean isLower = corner < 2;
            boolean isLeft = corner % 2 == 0;
            Arg row = node.add(image, isLower ? rows.low : rows.high);
            Arg place = node.add(node.multiply(row, width), isLeft ? columns.low : columns.high);
            Shape shape = node.shape(place);
            Arg taken = node.take(pixels, node.reshape(place, shape.dims().subList(0, IMAGE_RANK - 1)), 0);
            terms.add(node.multiply(taken, node.multiply(weight(node, rows, isLower), weight(node, columns, isLeft))));
        }
        return terms.stream().reduce(node::add).orElseThrow();
    }

    private static Arg weight(Formulas e, Samples samples, boolean isLow) {
        Arg share = isLow ? e.subtract(e.real(1), samples.rest) : samples.rest;
        return e.multiply(share, samples.weight);
    }
}
