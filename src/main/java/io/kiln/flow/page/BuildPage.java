// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.page;

import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import io.kiln.compile.CompiledModel;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Group;
import io.kiln.ir.Parameter;
import io.kiln.ir.Quantization;
import io.kiln.ir.Result;
import io.kiln.ir.Variable;
import io.kiln.ir.op.Trait;
import io.kiln.ir.op.call.ControlFlow.FunctionRef;
import io.kiln.ir.type.TensorType;
import io.kiln.lower.FusedOperator;
import io.kiln.pages.overview.JteoverviewGenerated;
import io.kiln.report.BuildReport;
import io.kiln.report.BuildReport.ModelPart;
import io.kiln.report.FrontReport;
import io.kiln.report.Json;
import io.kiln.report.ProfileReport;
import io.kiln.report.VerifyReport;
import io.kiln.report.graph.Graph;
import io.kiln.report.graph.Graph.Block;
import io.kiln.report.graph.Graph.Box;
import io.kiln.report.graph.Graph.Edge;
import io.kiln.report.graph.Graph.Kind;
import io.kiln.report.overview.Overview;
import io.kiln.report.page.Page;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * {@code index.html} in the folder of reports. Every step that writes a report writes the page again, so that the page
 * always agrees with the reports.
 */
public final class BuildPage {
    private BuildPage() {}

    public static Path file(Layout layout) {
        return layout.reports().resolve("index.html");
    }

    /** Writes the page from the existing reports; without the report of an image there is no page. */
    public static void write(Layout layout) {
        Optional<BuildReport> built = read(layout.reports().resolve("report.json"), BuildReport.class);
        if (built.isPresent()) {
            WholeFiles.write(file(layout), page(overview(layout, built.get())));
            return;
        }
        WholeFiles.delete(file(layout));
    }

    /**
     * Copies the page to another place.
     *
     * @return the copy
     * @throws KilnException if there is no page
     */
    public static Path copy(Layout layout, Path to) {
        if (!Files.isRegularFile(file(layout))) {
            throw Failure.PROJECT.exception(
                    "there is no page of the build",
                    file(layout).toString(),
                    "an image that was linked",
                    "Run mvn verify");
        }
        WholeFiles.copy(file(layout), to);
        return to;
    }

    private static String page(Overview overview) {
        return Page.of((out, html) -> JteoverviewGenerated.render(out, html, overview));
    }

    private static Overview overview(Layout layout, BuildReport report) {
        return new Overview(
                report,
                read(layout.reports().resolve("profile.json"), ProfileReport.class),
                read(layout.reports().resolve("verify.json"), VerifyReport.class),
                read(layout.reports().resolve("front.json"), FrontReport.class)
                        .filter(front -> isOf(front.taken(), report)),
                report.models().stream()
                        .map(ModelPart::name)
                        .map(name -> read(graph(layout, name), Graph.class))
                        .flatMap(Optional::stream)
                        .toList());
    }

    /** Whether the image that was taken is that of the build. */
    private static boolean isOf(FrontReport.Image taken, BuildReport report) {
        return taken.flash() == report.flash().total()
                && taken.ram() == report.ram().total();
    }

    /**
     * Keeps a model's graph for the page.
     *
     * @param file name of the model's file
     * @return the file written
     */
    public static Path keepGraph(Layout layout, CompiledModel model, String file) {
        Graph graph = ModelGraph.of(model, file);
        Path kept = graph(layout, model.library().metadata().name());
        Json.write(kept, graph);
        return kept;
    }

    private static Path graph(Layout layout, String name) {
        return layout.state("graph-" + name);
    }

    /** Reads a report. A damaged one is left out: the step that wrote it writes it again. */
    public static <T> Optional<T> read(Path file, Class<T> type) {
        try {
            return Files.isRegularFile(file) ? Optional.of(Json.read(file, type)) : Optional.empty();
        } catch (KilnException e) {
            return Optional.empty();
        }
    }

    /** A compiled model as a graph for display: one block for each input, fused group and output. Groups are named after their C functions. */
    public static final class ModelGraph {
        private static final List<String> SHOWN = List.of("kernel_size", "pool_size", "strides");

        private final Function fused;
        private final Function imported;
        private final String name;
        private final Map<Integer, Long> macs;
        private final Map<Integer, String> functions;
        private final Map<Integer, Integer> blockOf = new HashMap<>();
        private final List<Block> blocks = new ArrayList<>();
        private final Set<Edge> edges = new LinkedHashSet<>();

        /**
         * @param imported the function before all passes
         * @param name prefix of the function's own names in C
         */
        private ModelGraph(Function fused, Function imported, String name) {
            this.fused = fused;
            this.imported = imported;
            this.name = name;
            this.functions = functions(fused, name);
            this.macs = imported.bindings().stream().collect(Collectors.toMap(Binding::id, Binding::macs));
        }

        /**
         * The graph of a model after all passes.
         *
         * @param file the model's file, as the page states it
         */
        public static Graph of(CompiledModel model, String file) {
            Function fused = model.stages().get(model.stages().size() - 1).function();
            ModelMetadata metadata = model.library().metadata();
            List<String> summary = List.of(
                    file + " for " + metadata.target(),
                    number(metadata.operators().size()) + " operators in C, "
                            + number(metadata.operators().stream()
                                    .mapToLong(OperatorInfo::macs)
                                    .sum())
                            + " MACs, " + number(metadata.constantBytes()) + " bytes of constants, "
                            + number(metadata.workspaceBytes()) + " bytes of workspace");
            return new ModelGraph(fused, model.imported(), metadata.name()).draw("Model " + metadata.name(), summary);
        }

        private Graph draw(String title, List<String> summary) {
            fused.params().forEach(this::add);
            fused.variables().forEach(this::add);
            Map<Integer, Binding> bindings = fused.bindingsById();
            fused.groups().forEach(group -> add(group, bindings));
            Map<Integer, TensorType> types = fused.types();
            fused.results().forEach(result -> add(result, types.get(result.id())));
            List<Graph> called = new ArrayList<>();
            for (Function function : fused.functions()) {
                int index = called.size();
                String own = called(index);
                called.add(new ModelGraph(function, imported.functions().get(index), own)
                        .draw("Function " + own + ", " + function.name() + " in the model", List.of()));
            }
            return new Graph(title, summary, blocks, List.copyOf(edges), called);
        }

        /** The C name of a function that operators call. */
        private String called(int index) {
            return name + "_" + index;
        }

        private void add(Parameter parameter) {
            blockOf.put(parameter.id(), blocks.size());
            blocks.add(end(Kind.INPUT, parameter.name(), parameter.type(), parameter.quantization()));
        }

        private void add(Variable variable) {
            blockOf.put(variable.id(), blocks.size());
            blocks.add(end(Kind.VARIABLE, variable.name(), variable.type(), Optional.empty()));
        }

        private void add(Result result, TensorType type) {
            edges.add(new Edge(blockOf.get(result.id()), blocks.size()));
            blocks.add(end(Kind.OUTPUT, result.name(), type, result.quantization()));
        }

        private static Block end(Kind kind, String name, TensorType type, Optional<Quantization> quantization) {
            String what = kind.name().toLowerCase(Locale.ROOT) + " " + name;
            String scale = quantization
                    .map(q -> "\nscale " + q.scale() + ", zero point " + q.zeroPoint())
                    .orElse("");
            return new Block(kind, "", List.of(new Box(List.of(what, sized(type)), what + "\n" + type.text() + scale)));
        }

        private void add(Group group, Map<Integer, Binding> bindings) {
            Set<Integer> own = Set.copyOf(group.bindings());
            List<Box> boxes = new ArrayList<>();
            for (int id : group.bindings()) {
                Binding binding = bindings.get(id);
                boxes.add(box(binding));
                for (Arg arg : binding.args()) {
                    if (arg instanceof Arg.Ref ref && !own.contains(ref.id())) {
                        edges.add(new Edge(blockOf.get(ref.id()), blocks.size()));
                    }
                }
            }
            blockOf.put(group.output(), blocks.size());
            // From here on, readers of a variable read what the group wrote.
            written(group, bindings).forEach(id -> blockOf.put(id, blocks.size()));
            blocks.add(new Block(Kind.OPERATOR, functions.getOrDefault(group.output(), ""), boxes));
        }

        /** The C function of each group that has one, as the C and all reports name it, by the id that the group computes. */
        private static Map<Integer, String> functions(Function fused, String name) {
            return FusedOperator.all(fused, new InterfaceNames(name).prefix()).stream()
                    .filter(operator -> !operator.root().op().has(Trait.VIEW))
                    .collect(Collectors.toMap(FusedOperator::output, FusedOperator::name));
        }

        private static List<Integer> written(Group group, Map<Integer, Binding> bindings) {
            return group.bindings().stream()
                    .map(bindings::get)
                    .flatMap(b -> b.op().writes().stream().map(b::ref))
                    .toList();
        }

        private Box box(Binding binding) {
            List<String> lines = new ArrayList<>();
            lines.add(binding.op().name() + shown(binding));
            binding.op().attributes().forEach((key, value) -> {
                if (value instanceof FunctionRef ref) {
                    lines.add(key + " " + called(ref.index()));
                }
            });
            if (!binding.type().equals(TensorType.UNIT)) {
                lines.add(sized(binding.type()));
            }
            long products = macs.getOrDefault(binding.id(), 0L);
            long constants = 0;
            StringBuilder tooltip = new StringBuilder(binding.origin().text())
                    .append('\n')
                    .append(binding.op().name())
                    .append(' ')
                    .append(binding.op().attributes());
            for (Arg arg : binding.args()) {
                if (arg instanceof Constant constant) {
                    constants += constant.type().bytes();
                    tooltip.append("\nconstant ")
                            .append(constant.name().isEmpty() ? "" : "`" + constant.name() + "` ")
                            .append(sized(constant.type()))
                            .append(values(constant));
                }
            }
            if (products > 0) {
                lines.add(number(products) + " MACs");
            }
            if (constants > 0) {
                lines.add("constants " + number(constants) + " bytes");
            }
            return new Box(lines, tooltip.toString());
        }

        /** The value, such as a scale or a zero point, or the range of values. */
        private static String values(Constant constant) {
            if (constant.elements() == 0) {
                return "";
            }
            boolean isReal = constant.type().dtype().isFloat();
            double least = Double.POSITIVE_INFINITY;
            double most = Double.NEGATIVE_INFINITY;
            for (int i = 0; i < constant.elements(); i++) {
                double value = isReal ? constant.real(i) : constant.integer(i);
                least = Math.min(least, value);
                most = Math.max(most, value);
            }
            String first = isReal ? String.valueOf((float) least) : number((long) least);
            String last = isReal ? String.valueOf((float) most) : number((long) most);
            return least == most ? ": " + first : ": " + first + " to " + last;
        }

        private static String shown(Binding binding) {
            return SHOWN.stream()
                    .filter(binding.op().attributes()::containsKey)
                    .map(name -> " " + name + "="
                            + binding.op().attributes().get(name).toString().replace(" ", ""))
                    .collect(Collectors.joining());
        }

        private static String sized(TensorType type) {
            return type.dtype().text() + " " + type.shape().text() + ", " + number(type.bytes()) + " bytes";
        }

        /** A number with commas between thousands. Java's formatter would first load the tables of locales, which takes longer than the graph. */
        private static String number(long value) {
            StringBuilder text = new StringBuilder(Long.toString(value));
            for (int i = text.length() - 3; i > (value < 0 ? 1 : 0); i -= 3) {
                text.insert(i, ',');
            }
            return text.toString();
        }
    }
}
