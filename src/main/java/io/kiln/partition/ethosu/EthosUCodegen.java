// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition.ethosu;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.InterfaceNames;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Failure;
import io.kiln.base.Problem;
import io.kiln.base.ResourceTree;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.op.call.EthosU;
import io.kiln.ir.op.call.EthosU.EthosUTensor;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

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
                    throw Failure.TARGET.exception(
                            "Vela compiled the model for an " + stream.name() + ", and the NPU is an " + own,
                            part.origin().text(),
                            "a model for " + own,
                            "Run Vela with --accelerator-config " + own + ", or choose a board with an "
                                    + stream.name());
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
                (what, expected) -> Failure.MODEL.exception(what, part.origin().text(), expected, ""));
    }

    private static Artifact file(String loader, String name, Bytes content) {
        return new Artifact(NAME, loader, name, content, NAME);
    }

    /**
     * Prints the functions of a unit as one C file. The base pointers are those of TensorFlow Lite Micro: weights, scratch, fast scratch, then inputs
     * and outputs, as many as the driver takes.
     */
    private static final class EthosUText {
        /** Most base pointers that an NPU has. */
        private static final int MOST_BASES = 8;

        private static final int BYTES_IN_LINE = 24;

        private final StringBuilder text = new StringBuilder();
        private final Map<Bytes, String> weights = new LinkedHashMap<>();

        private EthosUText() {}

        /** @param parameters the C parameters of a function */
        static String print(ExternalUnit unit, Function<ExternalFunction, List<String>> parameters) {
            EthosUText file = new EthosUText();
            file.text.append(ResourceTree.read("ethosu")
                    .get("head.h")
                    .text()
                    .replace("@MODEL@", unit.model().replaceAll("[^A-Za-z0-9_.-]", "_")));
            unit.functions().forEach(function -> file.function(function, parameters.apply(function)));
            return file.text.toString();
        }

        private void function(ExternalFunction function, List<String> parameters) {
            Binding part = function.body().root();
            EthosU op = (EthosU) part.op();
            String array = weights(function, EthosUCodegen.content(part, op.payload() + 1));
            String signature = "int32_t " + function.symbol() + "(" + String.join(", ", parameters) + ")";
            text.append("\n/* ")
                    .append(part.origin().tensor().replaceAll("[^A-Za-z0-9_./-]", "_"))
                    .append(" */\n");
            text.append(signature).append(";\n").append(signature).append(" {\n");
            for (int i = 0; i < op.inputs().size(); i++) {
                text.append("  (void)memcpy(output_ + ")
                        .append(op.inputs().get(i))
                        .append("u, ");
                text.append(source(function, part, i))
                        .append(", ")
                        .append(bytes(function, part, i))
                        .append("u);\n");
            }
            List<String> bases =
                    new ArrayList<>(List.of(array, "output_", op.fastBytes() > 0 ? "context_" : "output_"));
            List<String> sizes = new ArrayList<>(List.of(
                    "sizeof " + array,
                    op.arenaBytes() + "u",
                    (op.fastBytes() > 0 ? op.fastBytes() : op.arenaBytes()) + "u"));
            for (int i = 0; i < op.inputs().size() && bases.size() < MOST_BASES; i++) {
                bases.add("output_ + " + op.inputs().get(i) + "u");
                sizes.add(bytes(function, part, i) + "u");
            }
            for (int i = 0; i < op.outputs().size() && bases.size() < MOST_BASES; i++) {
                bases.add("output_ + " + op.outputs().get(i) + "u");
                sizes.add(op.outputBytes().get(i) + "u");
            }
            text.append("  uint64_t bases[] = {");
            bases.forEach(base ->
                    text.append("\n      (uint64_t)(uintptr_t)(").append(base).append("),"));
            text.append("\n  };\n  const size_t sizes[] = {")
                    .append(String.join(", ", sizes))
                    .append("};\n");
            text.append("  return ethosu_invoke_v3(device_, payload_, ")
                    .append(EthosUCodegen.content(part, op.payload()).size())
                    .append(", bases, sizes, ")
                    .append(bases.size())
                    .append(", NULL);\n}\n");
        }

        /** The array of weights, which all parts of a model share. */
        private String weights(ExternalFunction function, Bytes content) {
            String known = weights.get(content);
            if (known != null) {
                return known;
            }
            String name = function.symbol() + "_weights";
            weights.put(content, name);
            text.append("\nstatic const uint8_t __attribute__((section(\"")
                    .append(InterfaceNames.CONSTANTS_SECTION)
                    .append("\"), aligned(16))) ")
                    .append(name)
                    .append('[')
                    .append(content.size())
                    .append("] = {");
            for (int i = 0; i < content.size(); i++) {
                text.append(i % BYTES_IN_LINE == 0 ? "\n  " : " ")
                        .append(content.get(i) & 0xFF)
                        .append(',');
            }
            text.append("\n};\n");
            return name;
        }

        private static String source(ExternalFunction function, Binding part, int argument) {
            int id = ((Arg.Ref) part.args().get(argument)).id();
            return ExternalCall.input(function, function.body().inputs().indexOf(id));
        }

        private static long bytes(ExternalFunction function, Binding part, int argument) {
            return function.body().argument(part, argument).bytes();
        }
    }
}
