// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.CNames;
import io.kiln.artifact.Convention;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.ObjectCompiler;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.base.Problems;
import io.kiln.executor.PackedOptions;
import io.kiln.frontend.CustomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.OnnxIo;
import io.kiln.partition.ExternalCodegen;
import io.kiln.partition.Externals;
import io.kiln.quantize.QuantizeRequest;
import io.kiln.target.CompositeTarget;
import io.kiln.target.MemoryPool;
import io.kiln.target.Target;
import io.kiln.transform.PassOptions;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** A request to the compiler. Made by a {@link Builder}, which has the defaults. */
public final class CompileRequest {
    private final Path model;
    private final String name;
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
    private final boolean slim;
    private final Optional<QuantizeRequest> quantize;
    private final Externals externals;
    private final Optional<ObjectCompiler> objects;

    private CompileRequest(Builder builder, Externals externalsOf) {
        model = builder.model;
        name = builder.name;
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
        slim = builder.slim;
        quantize = builder.quantize;
        externals = externalsOf;
        objects = builder.objects;
    }

    /**
     * A request for a model.
     *
     * @param model the model file
     * @param target target string, such as {@code c -keys=arm_cpu,cpu -mcpu=cortex-m4}, or a composite one
     * @throws KilnException with all errors of the target string
     */
    public static Builder builder(Path model, String target) {
        return new Builder(model, CompositeTarget.parse(target));
    }

    /** The model file. */
    public Path model() {
        return model;
    }

    /** Module name. */
    public String name() {
        return name;
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

    /** What is special about functions with the packed signature. */
    public PackedOptions packed() {
        return packed;
    }

    /** What calls the operators in order. */
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

    /** What makes objects, for targets of kind llvm. */
    public Optional<ObjectCompiler> objects() {
        return objects;
    }

    /** Builds a request; values that are not set have their defaults. */
    public static final class Builder {
        private final Path model;
        private final CompositeTarget target;
        private List<ExternalCodegen> codegens = List.of();
        private String name = "default";
        private Optimize optimize = Optimize.SPEED;
        private Io io = Io.CALLER;
        private Convention convention = Convention.TYPED;
        private PackedOptions packed = PackedOptions.USUAL;
        private ExecutorKind executor = ExecutorKind.AOT;
        private boolean linked = true;
        private List<MemoryPool> pools = List.of(MemoryPool.GLOBAL_WORKSPACE);
        private List<MemoryPool> constantPools = List.of(MemoryPool.GLOBAL_CONSTANTS);
        private PassOptions passes = PassOptions.DEFAULT;
        private InputShapes inputShapes = InputShapes.NONE;
        private CustomOperators customOperators = CustomOperators.NONE;
        private OnnxIo onnxIo = OnnxIo.MODEL;
        private boolean slim;
        private Optional<QuantizeRequest> quantize = Optional.empty();
        private Optional<ObjectCompiler> objects = Optional.empty();

        private Builder(Path model, CompositeTarget target) {
            this.model = model;
            this.target = target;
        }

        /** Sets code generators that a composite target may name, beside those found as services; the default is none. */
        public Builder codegens(List<ExternalCodegen> newCodegens) {
            codegens = List.copyOf(newCodegens);
            return this;
        }

        /** Sets the module name; the default is {@code default}, as in microTVM. */
        public Builder name(String newName) {
            name = newName;
            return this;
        }

        /** Sets the optimization goal; the default is speed. */
        public Builder optimize(Optimize newOptimize) {
            optimize = newOptimize;
            return this;
        }

        /** Sets who owns inputs and outputs; the default is the caller. */
        public Builder io(Io newIo) {
            io = newIo;
            return this;
        }

        /** Sets how programs pass tensors; the default is a typed interface. */
        public Builder convention(Convention newConvention) {
            convention = newConvention;
            return this;
        }

        /** Sets what is special about functions with the packed signature; they check arguments and are listed otherwise. */
        public Builder packed(PackedOptions newPacked) {
            packed = newPacked;
            return this;
        }

        /** Sets whether constants lie in the C, as they do otherwise; without, the graph executor takes them from a file of parameters. */
        public Builder linked(boolean newLinked) {
            linked = newLinked;
            return this;
        }

        /** Sets what calls the operators in order; a function generated ahead of time otherwise. */
        public Builder executor(ExecutorKind newExecutor) {
            executor = newExecutor;
            return this;
        }

        /**
         * Sets the memory pools of the workspace, those to be filled first before the others; all but the last need a
         * limit. The default is {@link MemoryPool#GLOBAL_WORKSPACE}.
         */
        public Builder pools(List<MemoryPool> newPools) {
            pools = List.copyOf(newPools);
            return this;
        }

        /**
         * Sets the memory pools of weights and tables, the fastest first; all but the last need a limit. The default is
         * {@link MemoryPool#GLOBAL_CONSTANTS}.
         */
        public Builder constantPools(List<MemoryPool> newPools) {
            constantPools = List.copyOf(newPools);
            return this;
        }

        /** Sets changes to the passes; the default is none. */
        public Builder passes(PassOptions newPasses) {
            passes = newPasses;
            return this;
        }

        /** Sets shapes of inputs; the default is the file's. */
        public Builder inputShapes(InputShapes newShapes) {
            inputShapes = newShapes;
            return this;
        }

        /** Sets operators computed by the user's C functions; the default is none. */
        public Builder customOperators(CustomOperators newCustomOperators) {
            customOperators = newCustomOperators;
            return this;
        }

        /** Layout of the images at the border of an ONNX model; the model's unless set. */
        public Builder onnxIo(OnnxIo newOnnxIo) {
            onnxIo = newOnnxIo;
            return this;
        }

        /** Sets whether the archive omits the constants' data; the default is to include them. */
        public Builder slim(boolean newSlim) {
            slim = newSlim;
            return this;
        }

        /** Sets how the model is quantized first; the default is not at all. */
        public Builder quantize(Optional<QuantizeRequest> newQuantize) {
            quantize = newQuantize;
            return this;
        }

        /** Sets what makes objects, which targets of kind llvm need; there is none otherwise. */
        public Builder objects(Optional<ObjectCompiler> newObjects) {
            objects = newObjects;
            return this;
        }

        /**
         * Builds the request.
         *
         * @throws KilnException with all errors that do not depend on the model
         */
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
}
