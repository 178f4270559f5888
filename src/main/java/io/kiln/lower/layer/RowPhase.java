// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import io.kiln.base.Bytes;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.FusedOperator.Tail;
import io.kiln.lower.Requantization;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * A phase of a transposed convolution with strides {@code sy} and {@code sx}: every {@code sy}-th row of its output, as the rows of an ordinary
 * convolution of stride 1 whose channels are those of {@code sx} neighbouring columns. With {@code P = columns + cropped}, its output
 * {@code [row][P / sx][sx * channels]} is, row by row, {@code P} columns of the output, of which {@code cropped} at the left and perhaps some at
 * the right do not exist.
 *
 * <p>Output row {@code y} of phase {@code p = (y + padTop) % sy} sums {@code kernel[p + j * sy]} times input row {@code (y + padTop) / sy - j};
 * columns likewise. Taps beyond the kernel are 0.
 *
 * @param first its first row in the output
 * @param stride rows of the output from one of its rows to the next
 * @param cropped columns at the left of its rows that are not in the output
 * @param conv the ordinary convolution, of one image
 */
public record RowPhase(int first, int stride, int cropped, ConvComputation conv) {
    /** The phases of a transposed convolution; each row of its output belongs to one. */
    public static List<RowPhase> of(FusedOperator op) {
        LayerGeometry layer = LayerGeometry.of(op);
        Window w = layer.window();
        List<RowPhase> phases = new ArrayList<>();
        for (int first = 0; first < Math.min(w.strideH(), layer.output().dim(1)); first++) {
            int cropped = w.padLeft() % w.strideW();
            phases.add(new RowPhase(
                    first, w.strideH(), cropped, ConvComputation.of(new Deal(op, layer, first).ordinary())));
        }
        return phases;
    }

    /** Whether the rows of the convolution are those of the output. */
    public boolean isWhole(Shape output) {
        return cropped == 0 && conv.output().dim(2) * conv.channels() == output.dim(2) * output.dim(3);
    }

    /** Deals one phase of a transposed convolution out into an ordinary convolution. */
    private record Deal(FusedOperator op, LayerGeometry layer, int first) {
        private Window transposed() {
            return layer.window();
        }

        /** Rows that the first row's last tap lies above the input, plus one. */
        private int firstRow() {
            return (first + transposed().padTop()) / transposed().strideH();
        }

        private int firstColumn() {
            return transposed().padLeft() / transposed().strideW();
        }

        private int phase() {
            return (first + transposed().padTop()) % transposed().strideH();
        }

        private int kernelH() {
            int stride = transposed().strideH();
            return Math.max((transposed().kernelH() - phase() + stride - 1) / stride, firstRow() + 1);
        }

        private int kernelW() {
            int stride = transposed().strideW();
            return Math.max((transposed().kernelW() + stride - 1) / stride, firstColumn() + 1);
        }

        private int rows() {
            int stride = transposed().strideH();
            return (layer.output().dim(1) - first + stride - 1) / stride;
        }

        private int columns() {
            int last = (layer.output().dim(2) - 1 + transposed().padLeft())
                    / transposed().strideW();
            return last - firstColumn() + 1;
        }

        private int channels() {
            return transposed().strideW() * layer.channels();
        }

        private Window window() {
            int top = kernelH() - 1 - firstRow();
            int left = kernelW() - 1 - firstColumn();
            int bottom =
                    Math.max(0, rows() - 1 + kernelH() - top - layer.input().dim(1));
            int right =
                    Math.max(0, columns() - 1 + kernelW() - left - layer.input().dim(2));
            return Window.of(kernelH(), kernelW()).padded(top, left, bottom, right);
        }

        FusedOperator ordinary() {
            Layer root = (Layer) op.root().op();
            Shape output = Shape.of(1, rows(), columns(), channels());
            TensorType data = op.rootTypes().get(0);
            Shape image = Shape.of(
                    1, data.shape().dim(1), data.shape().dim(2), data.shape().dim(3));
            TensorType sum = new TensorType(output, op.root().type().dtype());
            Layer ordinary = root.isQuantized()
                    ? new QnnConv2d(window(), 1, channels(), "OHWI", sum.dtype())
                    : new Conv2d(window(), 1, channels(), "OHWI");
            List<Arg> args = new ArrayList<>(op.root().args());
            args.set(
                    1,
                    kernels(
                            root.isQuantized()
                                    ? (int) op.root()
                                            .constant(Layer.KERNEL_ZERO_POINT)
                                            .integer(0)
                                    : 0));
            if (root.isQuantized()) {
                Constant scale = op.root().constant(Layer.KERNEL_SCALE);
                args.set(Layer.KERNEL_SCALE, scale.elements() == 1 ? scale : repeated(scale));
            }
            List<TensorType> types = new ArrayList<>(op.rootTypes());
            types.set(0, new TensorType(image, data.dtype()));
            for (int i = 1; i < args.size(); i++) {
                types.set(i, ((Constant) args.get(i)).type());
            }
            return new FusedOperator(
                    op.name(),
                    new Binding(op.root().id(), ordinary, args, sum, op.root().origin()),
                    types,
                    new Tail(op.bias().map(this::repeated), op.requantization().map(this::repeated), op.clip()),
                    op.output(),
                    new TensorType(output, op.type().dtype()),
                    op.op());
        }

        /** Repeats per-channel values for each column phase, whose channels stand side by side. */
        private Constant repeated(Constant constant) {
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            for (int i = 0; i < transposed().strideW(); i++) {
                all.writeBytes(constant.data().toArray());
            }
            Shape shape = Shape.of(constant.elements() * transposed().strideW());
            return new Constant(
                    constant.name(), new TensorType(shape, constant.type().dtype()), Bytes.wrap(all.toByteArray()));
        }

        private Requantization repeated(Requantization by) {
            return new Requantization(
                    repeated(by.multipliers()),
                    repeated(by.shifts()),
                    by.inputZeroPoint(),
                    by.outputZeroPoint(),
                    by.outDtype(),
                    by.rounding(),
                    by.real().size() < 2
                            ? by.real()
                            : Collections.nCopies(transposed().strideW(), by.real()).stream()
                                    .flatMap(List::stream)
                                    .toList());
        }

        private List<Integer> repeated(List<Integer> values) {
            return values.size() == 1
                    ? values
                    : Collections.nCopies(transposed().strideW(), values).stream()
                            .flatMap(List::stream)
                            .toList();
        }

        /** The kernels of the phase's ordinary convolution, OHWI, taken from the transposed kernels, OHWI too. */
        private Constant kernels(int zeroPoint) {
            Constant weight = op.root().constant(1);
            Window w = transposed();
            int pixel = layer.depth() * weight.type().dtype().bytes();
            byte[] from = weight.data().toArray();
            byte[] to = new byte[channels() * kernelH() * kernelW() * pixel];
            Arrays.fill(to, (byte) zeroPoint);
            for (int o = 0; o < channels(); o++) {
                for (int row = 0; row < kernelH(); row++) {
                    for (int column = 0; column < kernelW(); column++) {
                        int ky = phase() + (kernelH() - 1 - row) * w.strideH();
                        int kx = o / layer.channels() + (kernelW() - 1 - column) * w.strideW();
                        if (ky < w.kernelH() && kx < w.kernelW()) {
                            int source = (o % layer.channels() * w.kernelH() + ky) * w.kernelW() + kx;
                            int target = (o * kernelH() + row) * kernelW() + column;
                            System.arraycopy(from, source * pixel, to, target * pixel, pixel);
                        }
                    }
                }
            }
            Shape shape = Shape.of(channels(), kernelH(), kernelW(), layer.depth());
            return new Constant(
                    weight.name(), new TensorType(shape, weight.type().dtype()), Bytes.wrap(to));
        }
    }
}
