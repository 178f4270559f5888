// SPDX-License-Identifier: Apache-2.0
package io.kiln.api;

import io.kiln.artifact.CNames;
import io.kiln.artifact.Convention;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.compile.CallOptions;
import io.kiln.compile.CompileOptions;
import io.kiln.firmware.FirmwareRequest.ImageOptions;
import io.kiln.firmware.app.DefaultApplication.Application;
import io.kiln.flow.Flow;
import io.kiln.flow.spec.BoardSources;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.ArchiveSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.MachineSpec;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifyOver;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.CompilerSpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.ImageSpec;
import io.kiln.flow.spec.UpdateSpec;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A request to build firmware, as {@code kiln:build} does: a model file or an archive becomes an image with the default application, which is
 * verified in the emulator. Its methods change it and return it.
 */
public final class FirmwareBuild {
    private static final CallOptions PACKED =
            CallOptions.of(Convention.PACKED.interfaceApi(), false, Optional.empty(), false);

    private final Path model;
    private String name = "default";
    private String board = "mps2-an386";
    private Optional<String> toolchain = Optional.empty();
    private Optimization optimization = Optimization.SPEED;
    private VerifyOn verified = VerifyOn.EMULATOR;
    private boolean isServer;
    private Path repository = Path.of(System.getProperty("user.home"), ".m2", "repository");
    private Consumer<String> log = line -> {};

    private FirmwareBuild(Path model) {
        this.model = model;
    }

    /**
     * A request with all defaults: board {@code mps2-an386}, its toolchain, for speed, verified in the emulator.
     *
     * @param model a model file, or an archive
     * @return the request
     */
    public static FirmwareBuild of(Path model) {
        return new FirmwareBuild(model);
    }

    /**
     * Names the model; an archive has its own name.
     *
     * @param value as in {@code tvmgen_<name>_run}
     * @return this
     */
    public FirmwareBuild name(String value) {
        name = value;
        return this;
    }

    /**
     * Sets the board.
     *
     * @param value id of a built-in board
     * @return this
     */
    public FirmwareBuild board(String value) {
        board = value;
        return this;
    }

    /**
     * Sets the toolchain.
     *
     * @param value {@code clang}, {@code gnu}, {@code host}, or a descriptor
     * @return this
     */
    public FirmwareBuild toolchain(String value) {
        toolchain = Optional.of(value);
        return this;
    }

    /**
     * Sets what the model's code is optimized for.
     *
     * @param value the goal
     * @return this
     */
    public FirmwareBuild optimize(Optimization value) {
        optimization = value;
        return this;
    }

    /**
     * Puts microTVM's RPC server into the image in place of the console application, as {@code kiln.application=rpc} does; the image is
     * verified over RPC, too.
     *
     * @return this
     */
    public FirmwareBuild withRpcServer() {
        isServer = true;
        return this;
    }

    /**
     * Leaves out the verification.
     *
     * @return this
     */
    public FirmwareBuild unverified() {
        verified = VerifyOn.NONE;
        return this;
    }

    /**
     * Sets the local Maven repository, which has the bundled compiler, and whose neighbour {@code kiln} is {@code kiln.home} unless that is
     * set. By itself it is {@code .m2/repository} in the user's folder. Nothing is fetched.
     *
     * @param value a folder
     * @return this
     */
    public FirmwareBuild repository(Path value) {
        repository = value;
        return this;
    }

    /**
     * Sets what gets the lines that the goal logs.
     *
     * @param value gets information and warnings
     * @return this
     */
    public FirmwareBuild log(Consumer<String> value) {
        log = value;
        return this;
    }

    /**
     * Builds what is out of date.
     *
     * @param folder gets all files, as {@code kiln.outputDirectory}
     * @return the image
     * @throws KilnFailure with all problems, or if the image computes something else than the model
     */
    public Image buildInto(Path folder) {
        return KilnFailure.told(() -> {
            BuildSpec spec = spec(folder);
            Log lines = new ConsumerLog(log);
            ToolchainEnvironment environment = new ToolchainEnvironment(
                    ToolchainEnvironment.defaultHome(repository), List.of(), this::local, lines);
            new Flow(lines, environment).build(spec, DeviceSpec.USUAL);
            Layout layout = spec.layout();
            return new Image(
                    layout.image("elf"),
                    layout.image("bin"),
                    layout.archive(),
                    layout.reports().resolve("report.json"));
        });
    }

    private BuildSpec spec(Path folder) {
        Path out = folder.toAbsolutePath().normalize();
        CNames.modelNameProblem(name, "name").ifPresent(problem -> {
            throw new KilnException(problem);
        });
        CompileOptions options = CompilerSpec.DEFAULT.options().with(Optimize.valueOf(optimization.name()));
        VerifySpec verify = new VerifySpec(verified, Optional.empty(), 2, 0);
        return new BuildSpec(
                new Layout(out, out, name),
                List.of(new ModelSource(model.toAbsolutePath(), name)),
                new MachineSpec(board, toolchain, BoardSources.NONE, UpdateSpec.NONE),
                CompilerSpec.DEFAULT.with(isServer ? options.with(PACKED) : options),
                ArchiveSpec.DEFAULT,
                isServer
                        ? ImageSpec.DEFAULT
                                .with(ImageOptions.DEFAULT.with(Application.RPC))
                                .with(verify.with(VerifyOver.RPC))
                        : ImageSpec.DEFAULT.with(verify),
                List.of());
    }

    private Path local(String group, String artifact, String version, String classifier, String extension) {
        Path file = repository
                .resolve(group.replace('.', '/'))
                .resolve(artifact)
                .resolve(version)
                .resolve(artifact + "-" + version + "-" + classifier + "." + extension);
        if (!Files.isRegularFile(file)) {
            throw new KilnException(Failure.TOOL.problem(
                    "the bundled compiler is not in the local repository",
                    file.toString(),
                    "",
                    "Run mvn dependency:get -Dartifact=" + group + ":" + artifact + ":" + version + ":" + extension
                            + ":" + classifier));
        }
        return file;
    }

    /**
     * A linked image.
     *
     * @param elf the image with its symbols
     * @param binary the bytes for flash
     * @param archive the models in it
     * @param report what it takes, as JSON; its schema is on the site
     */
    public record Image(Path elf, Path binary, Path archive, Path report) {}

    /**
     * A log whose lines go to one place.
     *
     * @param lines gets them
     */
    private record ConsumerLog(Consumer<String> lines) implements Log {
        @Override
        public void info(String line) {
            lines.accept(line);
        }

        @Override
        public void warn(String line) {
            lines.accept(line);
        }

        @Override
        public void debug(String line) {}
    }
}
