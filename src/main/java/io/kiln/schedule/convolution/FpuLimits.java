// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.base.DType;
import io.kiln.ir.op.element.Clip;
import io.kiln.lower.FusedOperator;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The limits that {@code convolution/fpu_tiles} applies to sums before it stores them. */
public enum FpuLimits {
    NONE,
    /** At least 0. */
    RELU,
    /** From 0 to a given positive number. */
    CAPPED,
    /** Between any two given numbers, which is left to C. */
    OTHER;

    /** The limits of an operator. */
    public static FpuLimits of(FusedOperator op) {
        Optional<Clip> clip = op.clip();
        boolean isBelow = clip.filter(c -> (float) c.max() < Float.MAX_VALUE).isPresent();
        boolean isAbove = clip.filter(c -> (float) c.min() > -Float.MAX_VALUE).isPresent();
        if (!isBelow && !isAbove) {
            return NONE;
        }
        boolean isFromZero = clip.get().min() == 0 && clip.get().max() > 0;
        return isFromZero ? isBelow ? CAPPED : RELU : OTHER;
    }

    /** End of the kernel's name. */
    public String suffix() {
        return switch (this) {
            case NONE -> "";
            case RELU -> "_relu";
            case CAPPED -> "_capped";
            case OTHER -> "_limited";
        };
    }

    /** A description for the kernel's comment. */
    public String text() {
        return switch (this) {
            case NONE -> "without limits";
            case RELU -> "from 0 on";
            case CAPPED -> "from 0 to high";
            case OTHER -> "from low to high";
        };
    }

    /** The kernel's last parameters. */
    private List<DType> parameters() {
        return switch (this) {
            case NONE, RELU -> List.of();
            case CAPPED -> List.of(DType.FLOAT32);
            case OTHER -> List.of(DType.FLOAT32, DType.FLOAT32);
        };
    }

    /** Their values for an operator. */
    public List<Expr> arguments(FusedOperator op) {
        return switch (this) {
            case NONE, RELU -> List.of();
            case CAPPED -> List.of(Exprs.imm((float) op.clip().orElseThrow().max()));
            case OTHER ->
                op.clip().stream()
                        .flatMap(clip -> Stream.of(clip.min(), clip.max()))
                        .map(limit -> Exprs.imm(limit.floatValue()))
                        .map(Expr.class::cast)
                        .toList();
        };
    }

    /** Whether the kernel itself applies them, unless a result is NaN. */
    public boolean areEarly() {
        return this == RELU || this == CAPPED;
    }

    /** A kernel of input, weights, biases and output, with so many scalars before those of the limits. */
    public Kernel kernel(String name, int scalars, String definition) {
        List<DType> all = new ArrayList<>(Collections.nCopies(scalars, DType.INT32));
        all.addAll(parameters());
        List<Pointer> pointers = Pointer.lastWritten(DType.FLOAT32, DType.FLOAT32, DType.FLOAT32, DType.FLOAT32);
        return new Kernel(name, pointers, all, List.of(), definition, List.of());
    }
}
