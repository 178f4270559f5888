// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.base.Failure;
import io.kiln.base.Optimize;
import io.kiln.base.Problems;
import io.kiln.compile.CompileOptions;
import io.kiln.compile.ReadOptions;
import io.kiln.flow.Flow;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.ArchiveSpec;
import io.kiln.flow.spec.BuildSpec.GivenInputs;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.MachineSpec;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.CompilerSpec;
import io.kiln.flow.spec.CompilerSpec.FitSpec;
import io.kiln.flow.spec.ImageSpec;
import io.kiln.flow.spec.PassConfig;
import io.kiln.flow.spec.UpdateSpec;
import io.kiln.maven.bean.Model;
import io.kiln.maven.bean.Model.ModelChoice;
import io.kiln.maven.group.CompilationGroups;
import io.kiln.maven.group.GoalParameters;
import io.kiln.maven.group.GoalParameters.OperatorFunctions;
import io.kiln.maven.session.JsonOutput;
import io.kiln.maven.session.MojoLog;
import io.kiln.transform.PassOptions;
import java.io.File;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Shows a model, an archive, an image or a shared library: operators, shapes, sizes and memory use. A model is read and compiled as {@code
 * kiln:generate} does it, with the parameters that the project and the command line set for that goal.
 *
 * @since 0.1.0
 */
@Mojo(name = "inspect", requiresProject = false, threadSafe = true)
public final class InspectMojo extends AbstractBoardMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.inspect.skip", defaultValue = "false")
    private boolean skipInspect;

    /**
     * The file to show: a model, a Model Library Format archive, an ELF image or a shared library. If not set, {@code kiln.model} or the
     * project's own model, and the files built from it.
     */
    @Parameter(property = "kiln.file")
    private File file;

    /**
     * The inspector that looks at the artifacts of {@code kiln.file}, such as {@code list-functions}; {@code ?} lists those that say something
     * about them.
     */
    @Parameter(property = "kiln.inspector")
    private String inspector;

    /** How it is shown: {@code text} in the log for people, {@code json} on standard output for programs ({@code mvn -q}). */
    @Parameter(property = "kiln.output", defaultValue = "text")
    private String output;

    /** The model, as in {@code kiln:generate}. */
    @Parameter(property = "kiln.model")
    private String model;

    /** Several models, as in {@code kiln:generate}. */
    @Parameter
    private List<Model> models;

    /** Shapes of the model's inputs, as in {@code kiln:generate}. */
    @Parameter(property = "kiln.inputShapes")
    private String inputShapes;

    /** Output folder, if this is no project of packaging {@code firmware}. */
    @Parameter(property = "kiln.outputDirectory", defaultValue = "kiln-out")
    private File outputDirectory;

    @Override
    boolean isGoalSkipped() {
        return skipInspect;
    }

    @Override
    boolean isAboutOneModel() {
        return true;
    }

    @Override
    void run() {
        Flow flow = new Flow(new MojoLog(getLog()), environment());
        Optional<Path> path = Optional.ofNullable(file).map(File::toPath);
        GivenInputs inputs = given(parameters());
        if (JsonOutput.isAsked(output)) {
            JsonOutput.print(flow.inspectReport(spec(), path, inputs, Optional.ofNullable(inspector)));
        } else if (inspector != null && path.isPresent()) {
            flow.inspect(path.get(), inspector);
        } else {
            flow.inspect(spec(), path, inputs);
        }
    }

    private GivenInputs given(GoalParameters other) {
        String signature = CompilationGroups.signature(values(CompilationGroups.TFLITE, null));
        return GivenInputs.of(inputShapes, other.undeclared("inputValues").orElse(""), signature);
    }

    private BuildSpec spec() {
        GoalParameters other = parameters();
        List<ModelSource> sources = new ModelChoice.Named(
                        models, model, other.undeclared("name").orElse("default"), given(other))
                .find(modelArtifacts(), projectLayout(), project().getDependencies())
                .sources();
        Layout layout = isFirmware() ? projectLayout() : apart(outputDirectory, base(sources));
        Problems malformed = new Problems(Failure.CONFIG);
        CompileOptions options = options(other, malformed);
        return new BuildSpec(
                layout,
                sources,
                new MachineSpec(named().id(), Optional.empty(), boardSources(), UpdateSpec.NONE),
                CompilerSpec.DEFAULT.with(options),
                ArchiveSpec.DEFAULT,
                ImageSpec.DEFAULT,
                malformed.list());
    }

    private CompileOptions options(GoalParameters other, Problems malformed) {
        PassOptions passes = new PassOptions(
                CompilationGroups.maxDepth(values(CompilationGroups.FUSE, null)),
                Set.copyOf(listed(other, "disabledPasses")));
        ReadOptions reading = OperatorFunctions.in(
                CompilationGroups.reading(
                        values(CompilationGroups.ONNX, null),
                        values(CompilationGroups.TFLITE, null),
                        values(CompilationGroups.LIMIT, null)),
                other,
                Optional.empty());
        Optimize optimize = malformed
                .read(() -> FitSpec.goal(other.undeclared("optimize").orElse("speed")))
                .orElse(Optimize.SPEED);
        return malformed
                .read(() -> PassConfig.parse(listed(other, "passConfig")))
                .orElse(PassConfig.NONE)
                .over(CompileOptions.DEFAULT.with(optimize).with(passes).with(reading));
    }

    private static List<String> listed(GoalParameters other, String name) {
        return Stream.of(other.undeclared(name).orElse("").split(",", -1))
                .map(String::strip)
                .filter(text -> !text.isEmpty())
                .toList();
    }
}
