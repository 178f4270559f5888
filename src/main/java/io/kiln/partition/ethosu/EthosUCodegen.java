// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition.ethosu;

import io.kiln.artifact.Artifact;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.ir.Binding;
import io.kiln.ir.op.call.EthosU;
import io.kiln.ir.op.call.EthosUTensor;
import io.kiln.npu.DriverPayload;
import io.kiln.npu.NpuConfiguration;
import io.kiln.partition.CompositePattern;
import io.kiln.partition.Condition;
import io.kiln.partition.ExternalCall;
import io.kiln.partition.ExternalCodegen;
import io.kiln.partition.ExternalFunction;
import io.kiln.partition.ExternalUnit;
import io.kiln.partition.PatternStep;
import io.kiln.target.CompositeTarget;
import io.kiln.target.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Takes the parts that Vela compiled: {@code ethos-u -accelerator_config=ethos-u55-128, c -mcpu=cortex-m55}. */
public final class EthosUCodegen implements ExternalCodegen {
    /** Name of the code generator in targets, target key of its files, and loader of its command streams. */
    public static final String NAME = "ethos-u";

    /** The option that names the NPU, as TVM's code generator of this name has it. */
    public static final String CONFIGURATION = "accelerator_config";

    private static final String PAYLOAD = "payload";
    /** Suffix of command streams as files. */
    public static final String SUFFIX = ".cop1";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public boolean hasDevice() {
        return true;
    }

    @Override
    public Optional<Problem> check(CompositeTarget.External external, Target host) {
        boolean isKnown =
                Set.of(CONFIGURATION).containsAll(external.attributes().keySet());
        String configuration = external.option(CONFIGURATION, NpuConfiguration.NAMES.get(0));
        return isKnown && NpuConfiguration.NAMES.contains(configuration)
                ? Optional.empty()
                : Optional.of(Failure.TARGET.problem(
                        "these are no options of an Ethos-U",
                        "target `" + external.text() + "`",
                        "-" + CONFIGURATION + "= and one of " + String.join(", ", NpuConfiguration.NAMES),
                        ""));
    }

    @Override
    public List<CompositePattern> patterns(CompositeTarget.External external, Target host) {
        // The second pattern takes nothing: its condition is what the report says of operators that stay on the core.
        return List.of(
                new CompositePattern(NAME + ".part", List.of(PatternStep.named(EthosU.SIGNATURE.name())), List.of()),
                new CompositePattern(
                        NAME + ".operator",
                        List.of(new PatternStep("operator", op -> !(op instanceof EthosUTensor), false)),
                        List.of(new Condition(
                                "Vela has not compiled it for the NPU",
                                match -> match.root().op() instanceof EthosU))));
    }

    @Override
    public ExternalCall call(ExternalFunction function, CompositeTarget.External external, Target host) {
        Binding part = function.body().root();
        NpuConfiguration stream = payload(part).configuration();
        Optional.ofNullable(external.attributes().get(CONFIGURATION))
                .filter(own -> !own.equals(stream.name()))
                .ifPresent(own -> {
                    throw new KilnException(Failure.TARGET.problem(
                            "Vela compiled the model for an " + stream.name() + ", and the NPU is an " + own,
                            part.origin().text(),
                            "a model for " + own,
                            "Run Vela with --accelerator-config " + own + ", or choose a board with an "
                                    + stream.name()));
                });
        EthosU op = (EthosU) part.op();
        return new ExternalCall(
                List.of(new ExternalCall.Table(PAYLOAD, DType.UINT8, content(part, op.payload()))),
                op.fastBytes(),
                "command stream for " + stream.name(),
                DriverPayload.ALIGNMENT);
    }

    /** The functions in C, and each command stream for tools. */
    @Override
    public List<Artifact> generate(ExternalUnit unit) {
        List<Artifact> files = new ArrayList<>();
        files.add(file(
                Artifact.NATIVE,
                unit.file() + ".c",
                Bytes.ofText(EthosUText.print(
                        unit,
                        function -> call(function, unit.external(), unit.host()).parameters(function)))));
        for (ExternalFunction function : unit.functions()) {
            Binding part = function.body().root();
            files.add(file(NAME, function.symbol() + SUFFIX, content(part, ((EthosU) part.op()).payload())));
        }
        return files;
    }

    /** The bytes of a constant argument. */
    static Bytes content(Binding part, int argument) {
        return part.constant(argument).data();
    }

    private static DriverPayload payload(Binding part) {
        return DriverPayload.read(
                content(part, ((EthosU) part.op()).payload()),
                (what, expected) -> new KilnException(
                        Failure.MODEL.problem(what, part.origin().text(), expected, "")));
    }

    private static Artifact file(String loader, String name, Bytes content) {
        return new Artifact(NAME, loader, name, content, NAME);
    }
}
