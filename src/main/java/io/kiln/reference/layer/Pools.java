// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.layer;

import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.Tensor;
import java.util.List;

/** Pools over windows, without the padding. */
final class Pools {
    private Pools() {}

    /** Visits every element inside the window of an output element. */
    private interface Visitor {
        /** A window begins. */
        void begin();

        void visit(int input);

        void end(int output);
    }

    static Tensor average(AvgPool2d op, List<Tensor> args, TensorType type) {
        int size = (int) type.shape().elements();
        if (type.dtype().isFloat()) {
            float[] result = new float[size];
            walk(op.window(), args.get(0), type, new RealMean(args.get(0).floats(), result));
            return Tensor.of(type, result);
        }
        int[] result = new int[size];
        walk(op.window(), args.get(0), type, new IntegerMean(args.get(0).ints(), result, op.rounding()));
        return Tensor.of(type, result);
    }

    static Tensor maximum(MaxPool2d op, List<Tensor> args, TensorType type) {
        int size = (int) type.shape().elements();
        if (type.dtype().isFloat()) {
            float[] result = new float[size];
            walk(op.window(), args.get(0), type, new RealMaximum(args.get(0).floats(), result));
            return Tensor.of(type, result);
        }
        int[] result = new int[size];
        walk(op.window(), args.get(0), type, new IntegerMaximum(args.get(0).ints(), result));
        return Tensor.of(type, result);
    }

    private static void walk(Window window, Tensor data, TensorType type, Visitor visitor) {
        Geometry g = Geometry.of(window, data.shape(), type.shape());
        for (int n = 0; n < g.batch(); n++) {
            for (int y = 0; y < g.outH(); y++) {
                for (int x = 0; x < g.outW(); x++) {
                    for (int c = 0; c < g.outC(); c++) {
                        visitor.begin();
                        visitWindow(g, n, g.top(y), g.left(x), c, visitor);
                        visitor.end(g.output(n, y, x) + c);
                    }
                }
            }
        }
    }

    private static void visitWindow(Geometry g, int n, int top, int left, int c, Visitor visitor) {
        Window w = g.window();
        int lastRow = Geometry.lastTap(top, w.dilationH(), w.kernelH(), g.inH());
        int lastColumn = Geometry.lastTap(left, w.dilationW(), w.kernelW(), g.inW());
        for (int kh = Geometry.firstTap(top, w.dilationH()); kh < lastRow; kh++) {
            for (int kw = Geometry.firstTap(left, w.dilationW()); kw < lastColumn; kw++) {
                visitor.visit(g.input(n, top + kh * w.dilationH(), left + kw * w.dilationW()) + c);
            }
        }
    }

    private static final class RealMean implements Visitor {
        private final float[] data;
        private final float[] result;
        private float sum;
        private int count;

        RealMean(float[] data, float[] result) {
            this.data = data;
            this.result = result;
        }

        @Override
        public void begin() {
            sum = 0;
            count = 0;
        }

        @Override
        public void visit(int input) {
            sum += data[input];
            count++;
        }

        @Override
        public void end(int output) {
            result[output] = sum / count;
        }
    }

    /** Rounds halves away from zero or up, or truncates. */
    private static final class IntegerMean implements Visitor {
        private final int[] data;
        private final int[] result;
        private final Rounding rounding;
        private int sum;
        private int count;

        IntegerMean(int[] data, int[] result, Rounding rounding) {
            this.data = data;
            this.result = result;
            this.rounding = rounding;
        }

        @Override
        public void begin() {
            sum = 0;
            count = 0;
        }

        @Override
        public void visit(int input) {
            sum += data[input];
            count++;
        }

        @Override
        public void end(int output) {
            int half = rounding == Rounding.TRUNCATE ? 0 : count / 2;
            result[output] = rounding == Rounding.UPWARD
                    ? Math.floorDiv(sum + half, count)
                    : (sum > 0 ? sum + half : sum - half) / count;
        }
    }

    private static final class RealMaximum implements Visitor {
        private final float[] data;
        private final float[] result;
        private float largest;

        RealMaximum(float[] data, float[] result) {
            this.data = data;
            this.result = result;
        }

        @Override
        public void begin() {
            largest = -Float.MAX_VALUE;
        }

        @Override
        public void visit(int input) {
            largest = Math.max(largest, data[input]);
        }

        @Override
        public void end(int output) {
            result[output] = largest;
        }
    }

    private static final class IntegerMaximum implements Visitor {
        private final int[] data;
        private final int[] result;
        private int largest;

        IntegerMaximum(int[] data, int[] result) {
            this.data = data;
            this.result = result;
        }

        @Override
        public void begin() {
            largest = Integer.MIN_VALUE;
        }

        @Override
        public void visit(int input) {
            largest = Math.max(largest, data[input]);
        }

        @Override
        public void end(int output) {
            result[output] = largest;
        }
    }
}
