// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.base.Bytes;
import io.kiln.ir.Constant;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;

/** Selects slices of a constant along an axis. */
final class Gather {
    private Gather() {}

    /** The slices at the given indices, in their order. */
    static Constant of(Constant constant, int axis, int[] indices) {
        Shape shape = constant.type().shape();
        int inner = constant.type().dtype().bytes();
        for (int i = axis + 1; i < shape.rank(); i++) {
            inner *= shape.dim(i);
        }
        int slices = shape.dim(axis);
        int outer = constant.data().size() / (inner * slices);
        byte[] from = constant.data().toArray();
        byte[] to = new byte[outer * indices.length * inner];
        for (int o = 0; o < outer; o++) {
            for (int i = 0; i < indices.length; i++) {
                System.arraycopy(from, (o * slices + indices[i]) * inner, to, (o * indices.length + i) * inner, inner);
            }
        }
        TensorType type =
                new TensorType(shape.with(axis, indices.length), constant.type().dtype());
        return new Constant(constant.name(), type, Bytes.wrap(to));
    }

    /** A constant that has one element for all channels or one per channel along its last axis. */
    static Constant channels(Constant constant, int channels, int[] kept) {
        int rank = constant.type().shape().rank();
        boolean shared = rank == 0 || constant.type().shape().dim(-1) < channels;
        return shared ? constant : of(constant, rank - 1, kept);
    }
}
