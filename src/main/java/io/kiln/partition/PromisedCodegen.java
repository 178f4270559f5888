// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.PromisedForms;
import io.kiln.base.DType;
import io.kiln.base.Extensions;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.TensorType;
import io.kiln.lower.Requantization;
import io.kiln.spi.ArtifactFile;
import io.kiln.spi.CallArguments;
import io.kiln.spi.CodeGenerator;
import io.kiln.spi.CodeRequest;
import io.kiln.spi.ElementType;
import io.kiln.spi.Operator;
import io.kiln.spi.OperatorChain;
import io.kiln.spi.OperatorPattern;
import io.kiln.spi.PatternStep;
import io.kiln.spi.RequestedFunction;
import io.kiln.spi.Rescaling;
import io.kiln.spi.TargetPart;
import io.kiln.spi.Tensor;
import io.kiln.target.CompositeTarget;
import io.kiln.target.Target;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A code generator that implements the interface that lasts. It sees operators by their names in place of the engine's classes.
 *
 * @param service what others wrote
 */
record PromisedCodegen(CodeGenerator service) implements ExternalCodegen, Extensions.Adapter {
    @Override
    public String name() {
        return service.name();
    }

    @Override
    public boolean hasDevice() {
        return service.hasDevice();
    }

    @Override
    public boolean runsOnCore() {
        return service.runsOnCore();
    }

    @Override
    public Optional<Problem> check(CompositeTarget.External external, Target host) {
        try {
            Extensions.told(() -> {
                service.check(part(external, host));
                return external;
            });
            return Optional.empty();
        } catch (KilnException e) {
            Problem problem = e.problems().get(0);
            String where = problem.where().isEmpty() ? external.text() : problem.where();
            return Optional.of(Failure.TARGET.problem(problem.what(), where, problem.expected(), problem.next()));
        }
    }

    @Override
    public List<CompositePattern> patterns(CompositeTarget.External external, Target host) {
        return service.patterns(part(external, host)).stream()
                .map(PromisedCodegen::pattern)
                .toList();
    }

    private static CompositePattern pattern(OperatorPattern pattern) {
        return new CompositePattern(
                pattern.name(),
                pattern.steps().stream().map(PromisedCodegen::step).toList(),
                pattern.conditions().stream()
                        .map(condition -> new Condition(
                                condition.failure(), match -> condition.holds().test(new Chain(match))))
                        .toList());
    }

    private static io.kiln.partition.PatternStep step(PatternStep step) {
        return new io.kiln.partition.PatternStep(
                step.operator(),
                op -> step.rescales() ? op.has(Trait.RESCALES) : op.name().equals(step.operator()),
                step.optional());
    }

    @Override
    public ExternalCall call(ExternalFunction function, CompositeTarget.External external, Target host) {
        CallArguments call = service.call(new Chain(function.body()), part(external, host));
        return new ExternalCall(
                call.tables().stream()
                        .map(table -> new ExternalCall.Table(
                                table.name(), PromisedForms.dtype(table.type()), PromisedForms.bytes(table.data())))
                        .toList(),
                call.contextBytes(),
                call.schedule());
    }

    @Override
    public List<Artifact> generate(ExternalUnit unit) {
        TargetPart part = part(unit.external(), unit.host());
        List<RequestedFunction> functions = unit.functions().stream()
                .<RequestedFunction>map(function -> new Requested(
                        function.symbol(),
                        "int32_t " + function.symbol() + "("
                                + String.join(
                                        ", ",
                                        call(function, unit.external(), unit.host())
                                                .parameters(function))
                                + ")",
                        new Chain(function.body())))
                .toList();
        List<ArtifactFile> files = service.generate(new Unit(unit.model(), unit.file(), functions, part));
        return files.stream().map(PromisedForms::artifact).toList();
    }

    private static TargetPart part(CompositeTarget.External external, Target host) {
        return new TargetPart(external.name(), external.attributes(), host.text());
    }

    private record Requested(String symbol, String prototype, OperatorChain operators) implements RequestedFunction {}

    private record Unit(String model, String file, List<RequestedFunction> functions, TargetPart target)
            implements CodeRequest {}

    private record Chain(Match match) implements OperatorChain {
        @Override
        public List<Operator> operators() {
            return match.chain().stream()
                    .<Operator>map(binding -> new Call(binding, match.types()))
                    .toList();
        }

        @Override
        public List<Tensor> inputs() {
            return match.inputs().stream()
                    .<Tensor>map(id -> new Value(match.types().get(id), Optional.empty()))
                    .toList();
        }
    }

    private record Call(Binding binding, Map<Integer, TensorType> types) implements Operator {
        @Override
        public String name() {
            return binding.op().name();
        }

        @Override
        public Map<String, Object> attributes() {
            return binding.op().attributes();
        }

        @Override
        public List<Tensor> arguments() {
            return binding.args().stream().<Tensor>map(this::value).toList();
        }

        private Value value(Arg arg) {
            return new Value(
                    arg.type(types), arg instanceof Constant constant ? Optional.of(constant) : Optional.empty());
        }

        @Override
        public Tensor result() {
            return new Value(binding.type(), Optional.empty());
        }

        @Override
        public Optional<Rescaling> rescaling() {
            return binding.op().has(Trait.RESCALES)
                    ? Optional.of(new Rescaled(Requantization.of(binding)))
                    : Optional.empty();
        }

        @Override
        public String origin() {
            return binding.origin().text();
        }
    }

    private record Rescaled(Requantization by) implements Rescaling {
        @Override
        public List<Integer> multipliers() {
            return by.multipliers();
        }

        @Override
        public List<Integer> shifts() {
            return by.shifts();
        }

        @Override
        public int inputZeroPoint() {
            return by.inputZeroPoint();
        }

        @Override
        public int outputZeroPoint() {
            return by.outputZeroPoint();
        }

        @Override
        public ElementType type() {
            return PromisedForms.of(by.outDtype());
        }

        @Override
        public String rounding() {
            return by.rounding().name();
        }

        @Override
        public boolean usesReals() {
            return !by.real().isEmpty();
        }
    }

    private record Value(TensorType of, Optional<Constant> constant) implements Tensor {
        @Override
        public ElementType type() {
            return PromisedForms.of(of.dtype());
        }

        @Override
        public List<Integer> shape() {
            return of.shape().dims();
        }

        @Override
        public boolean isConstant() {
            return constant.isPresent();
        }

        @Override
        public ByteBuffer data() {
            return known().data().buffer();
        }

        @Override
        public long integer(int index) {
            return known().integer(index);
        }

        @Override
        public float real(int index) {
            if (of.dtype() != DType.FLOAT32) {
                throw new IllegalStateException("a tensor of " + of.dtype().text() + " has no floats");
            }
            return known().real(index);
        }

        private Constant known() {
            return constant.orElseThrow(() -> new IllegalStateException("the model computes this tensor"));
        }
    }
}
