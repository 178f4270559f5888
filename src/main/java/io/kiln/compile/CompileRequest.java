// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.Convention;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelIdentity;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.ObjectCompiler;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.executor.PackedOptions;
import io.kiln.frontend.CustomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.ReadLimits;
import io.kiln.frontend.TfliteRounding;
import io.kiln.frontend.onnx.OnnxIo;
import io.kiln.partition.Externals;
import io.kiln.quantize.QuantizeRequest;
import io.kiln.target.CompositeTarget;
import io.kiln.target.MemoryPool;
import io.kiln.target.Target;
import io.kiln.transform.PassOptions;
import io.kiln.tuning.record.HistoryBest;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** A request to the compiler. Made by a {@link CompileRequestBuilder}, which has the defaults. */
public final class CompileRequest {
    private final Path model;
    private final String name;
    private final ModelIdentity identity;
    private final Optimize optimize;
    private final Io io;
    private final Convention convention;
    private final PackedOptions packed;
    private final ExecutorKind executor;
    private final boolean linked;
    private final List<MemoryPool> pools;
    private final List<MemoryPool> constantPools;
    private final PassOptions passes;
    private final InputShapes inputShapes;
    private final CustomOperators customOperators;
    private final OnnxIo onnxIo;
    private final TfliteRounding rounding;
    private final ReadLimits limits;
    private final boolean slim;
    private final Optional<QuantizeRequest> quantize;
    private final Externals externals;
    private final Optional<ObjectCompiler> objects;
    private final HistoryBest records;

    CompileRequest(CompileRequestBuilder builder, Externals externalsOf) {
        model = builder.model;
        name = builder.name;
        identity = builder.identity;
        optimize = builder.optimize;
        io = builder.io;
        convention = builder.convention;
        packed = builder.packed;
        executor = builder.executor;
        linked = builder.linked;
        pools = builder.pools;
        constantPools = builder.constantPools;
        passes = builder.passes;
        inputShapes = builder.inputShapes;
        customOperators = builder.customOperators;
        onnxIo = builder.onnxIo;
        rounding = builder.rounding;
        limits = builder.limits;
        slim = builder.slim;
        quantize = builder.quantize;
        externals = externalsOf;
        objects = builder.objects;
        records = builder.records;
    }

    /**
     * A request for a model.
     *
     * @param model the model file
     * @param target target string, such as {@code c -keys=arm_cpu,cpu -mcpu=cortex-m4}, or a composite one
     * @throws KilnException with all errors of the target string
     */
    public static CompileRequestBuilder builder(Path model, String target) {
        return new CompileRequestBuilder(model, CompositeTarget.parse(target));
    }

    /** The model file. */
    public Path model() {
        return model;
    }

    /** Module name. */
    public String name() {
        return name;
    }

    /** The identity of the model file that the image states. */
    public ModelIdentity identity() {
        return identity;
    }

    /** The target of Kiln's own code generator. */
    public Target target() {
        return externals.target().host();
    }

    /** The optimization goal. */
    public Optimize optimize() {
        return optimize;
    }

    /** Who owns inputs and outputs. */
    public Io io() {
        return io;
    }

    /** How programs pass tensors. */
    public Convention convention() {
        return convention;
    }

    /** Options of functions with the packed signature. */
    public PackedOptions packed() {
        return packed;
    }

    /** The executor, which calls the operators in order. */
    public ExecutorKind executor() {
        return executor;
    }

    /** Whether constants lie in the C; otherwise the graph has them. */
    public boolean isLinked() {
        return linked;
    }

    /** The memories of the workspace, those that are filled first before the others. */
    public List<MemoryPool> pools() {
        return pools;
    }

    /** The memories of weights and tables, the fastest first. */
    public List<MemoryPool> constantPools() {
        return constantPools;
    }

    /** Changes to the passes. */
    public PassOptions passes() {
        return passes;
    }

    /** Shapes of inputs that replace the file's. */
    public InputShapes inputShapes() {
        return inputShapes;
    }

    /** Operators computed by the user's C functions. */
    public CustomOperators customOperators() {
        return customOperators;
    }

    /** Layout of the images at the border of an ONNX model. */
    public OnnxIo onnxIo() {
        return onnxIo;
    }

    /** Whose arithmetic the operators of a TensorFlow Lite model have. */
    public TfliteRounding rounding() {
        return rounding;
    }

    /** What may be read for the model. */
    public ReadLimits limits() {
        return limits;
    }

    /** Whether the archive omits the constants' data, which the C has anyway. */
    public boolean isSlim() {
        return slim;
    }

    /** The code generators beside Kiln's own. */
    public Externals externals() {
        return externals;
    }

    /** How the model is quantized first; empty for a model that is compiled as it is. */
    public Optional<QuantizeRequest> quantize() {
        return quantize;
    }

    /** Tuning records, which override the rules that choose schedules. */
    public HistoryBest records() {
        return records;
    }

    /** The compiler of objects, for targets of kind llvm. */
    public Optional<ObjectCompiler> objects() {
        return objects;
    }
}
