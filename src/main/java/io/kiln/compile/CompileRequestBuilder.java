// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.CNames;
import io.kiln.artifact.Convention;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelIdentity;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.ObjectCompiler;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.base.Problems;
import io.kiln.executor.PackedOptions;
import io.kiln.frontend.CustomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.ReadLimits;
import io.kiln.frontend.TfliteRounding;
import io.kiln.frontend.onnx.OnnxIo;
import io.kiln.partition.ExternalCodegen;
import io.kiln.partition.Externals;
import io.kiln.quantize.QuantizeRequest;
import io.kiln.target.CompositeTarget;
import io.kiln.target.MemoryPool;
import io.kiln.transform.PassOptions;
import io.kiln.tuning.record.HistoryBest;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Builds a request; values that are not set have their defaults. */
public final class CompileRequestBuilder {
    final Path model;
    final CompositeTarget target;
    List<ExternalCodegen> codegens = List.of();
    String name = "default";
    ModelIdentity identity = ModelIdentity.UNKNOWN;
    Optimize optimize = Optimize.SPEED;
    Io io = Io.CALLER;
    Convention convention = Convention.TYPED;
    PackedOptions packed = PackedOptions.USUAL;
    ExecutorKind executor = ExecutorKind.AOT;
    boolean linked = true;
    List<MemoryPool> pools = List.of(MemoryPool.GLOBAL_WORKSPACE);
    List<MemoryPool> constantPools = List.of(MemoryPool.GLOBAL_CONSTANTS);
    PassOptions passes = PassOptions.DEFAULT;
    InputShapes inputShapes = InputShapes.NONE;
    CustomOperators customOperators = CustomOperators.NONE;
    OnnxIo onnxIo = OnnxIo.MODEL;
    TfliteRounding rounding = TfliteRounding.MICRO;
    ReadLimits limits = ReadLimits.STANDARD;
    boolean slim;
    Optional<QuantizeRequest> quantize = Optional.empty();
    Optional<ObjectCompiler> objects = Optional.empty();
    HistoryBest records = HistoryBest.NONE;

    CompileRequestBuilder(Path model, CompositeTarget target) {
        this.model = model;
        this.target = target;
    }

    /** Sets code generators that a composite target may name, beside those found as services; the default is none. */
    public CompileRequestBuilder codegens(List<ExternalCodegen> newCodegens) {
        codegens = List.copyOf(newCodegens);
        return this;
    }

    /** Sets the module name; the default is {@code default}, as in microTVM. */
    public CompileRequestBuilder name(String newName) {
        name = newName;
        return this;
    }

    /** Sets what the image tells of the model file; the default is nothing. */
    public CompileRequestBuilder identity(ModelIdentity newIdentity) {
        identity = newIdentity;
        return this;
    }

    /** Sets the optimization goal; the default is speed. */
    public CompileRequestBuilder optimize(Optimize newOptimize) {
        optimize = newOptimize;
        return this;
    }

    /** Sets who owns inputs and outputs; the default is the caller. */
    public CompileRequestBuilder io(Io newIo) {
        io = newIo;
        return this;
    }

    /** Sets how programs pass tensors; the default is a typed interface. */
    public CompileRequestBuilder convention(Convention newConvention) {
        convention = newConvention;
        return this;
    }

    /** Sets options of functions with the packed signature; by default they check arguments and are listed. */
    public CompileRequestBuilder packed(PackedOptions newPacked) {
        packed = newPacked;
        return this;
    }

    /** Sets whether constants lie in the C; the default is true. Otherwise the graph executor takes them from a file of parameters. */
    public CompileRequestBuilder linked(boolean newLinked) {
        linked = newLinked;
        return this;
    }

    /** Sets what calls the operators in order; the default is a function generated ahead of time. */
    public CompileRequestBuilder executor(ExecutorKind newExecutor) {
        executor = newExecutor;
        return this;
    }

    /**
     * Sets the memory pools of the workspace, those to be filled first before the others; all but the last need a
     * limit. The default is {@link MemoryPool#GLOBAL_WORKSPACE}.
     */
    public CompileRequestBuilder pools(List<MemoryPool> newPools) {
        pools = List.copyOf(newPools);
        return this;
    }

    /**
     * Sets the memory pools of constants, the fastest first; all but the last need a limit. The default is
     * {@link MemoryPool#GLOBAL_CONSTANTS}.
     */
    public CompileRequestBuilder constantPools(List<MemoryPool> newPools) {
        constantPools = List.copyOf(newPools);
        return this;
    }

    /** Sets changes to the passes; the default is none. */
    public CompileRequestBuilder passes(PassOptions newPasses) {
        passes = newPasses;
        return this;
    }

    /** Sets shapes of inputs; the default is the file's. */
    public CompileRequestBuilder inputShapes(InputShapes newShapes) {
        inputShapes = newShapes;
        return this;
    }

    /** Sets operators computed by the user's C functions; the default is none. */
    public CompileRequestBuilder customOperators(CustomOperators newCustomOperators) {
        customOperators = newCustomOperators;
        return this;
    }

    /** Sets the layout of the images at the border of an ONNX model; the default is the model's. */
    public CompileRequestBuilder onnxIo(OnnxIo newOnnxIo) {
        onnxIo = newOnnxIo;
        return this;
    }

    /** Sets whose arithmetic the operators of a TensorFlow Lite model have; the default is TensorFlow Lite Micro's. */
    public CompileRequestBuilder rounding(TfliteRounding newRounding) {
        rounding = newRounding;
        return this;
    }

    /** Sets what may be read for the model; the default is {@link ReadLimits#STANDARD}. */
    public CompileRequestBuilder limits(ReadLimits newLimits) {
        limits = newLimits;
        return this;
    }

    /** Sets whether the archive omits the constants' data; the default is to include them. */
    public CompileRequestBuilder slim(boolean newSlim) {
        slim = newSlim;
        return this;
    }

    /** Sets how the model is quantized first; the default is not at all. */
    public CompileRequestBuilder quantize(Optional<QuantizeRequest> newQuantize) {
        quantize = newQuantize;
        return this;
    }

    /** Sets the compiler of objects, which targets of kind llvm need; the default is none. */
    public CompileRequestBuilder objects(Optional<ObjectCompiler> newObjects) {
        objects = newObjects;
        return this;
    }

    /** Sets tuning records, which override the rules that choose schedules; the default is none. */
    public CompileRequestBuilder records(HistoryBest newRecords) {
        records = newRecords;
        return this;
    }

    /** Builds the request; throws a {@link KilnException} with all errors that do not depend on the model. */
    public CompileRequest build() {
        Problems problems = new Problems();
        CNames.modelNameProblem(name, "kiln.name").ifPresent(problems::add);
        CodeGenerators.problem(target.host(), objects).ifPresent(problems::add);
        RequestProblems.ofPools("the workspace", pools).forEach(problems::add);
        RequestProblems.ofPools("constants", constantPools).forEach(problems::add);
        RequestProblems.of(convention, executor, io, linked).forEach(problems::add);
        problems.throwIfAny();
        return new CompileRequest(this, Externals.of(target, codegens));
    }
}
