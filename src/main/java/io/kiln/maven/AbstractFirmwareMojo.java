// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.base.Problems;
import io.kiln.compile.CompileOptions;
import io.kiln.firmware.CodeFlags;
import io.kiln.firmware.ImageOptions;
import io.kiln.firmware.TrustedArchives;
import io.kiln.firmware.app.Application;
import io.kiln.flow.model.SharedModel;
import io.kiln.flow.resolve.ModelFiles;
import io.kiln.flow.spec.ArchiveSpec;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.CodeSpec;
import io.kiln.flow.spec.ImageSpec;
import io.kiln.flow.spec.MachineSpec;
import io.kiln.flow.spec.QuantizeSpec;
import io.kiln.flow.spec.RecordsSpec;
import io.kiln.flow.spec.UpdateSpec;
import io.kiln.maven.artifact.BoardArtifacts;
import io.kiln.maven.artifact.LibraryArtifacts;
import io.kiln.maven.artifact.RecordArtifacts;
import io.kiln.maven.bean.Mlf;
import io.kiln.maven.bean.Model;
import io.kiln.maven.session.GivenWords;
import io.kiln.maven.session.Timestamps;
import io.kiln.toolchain.compiler.Libc;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.settings.Server;

/** The parameters of every goal that builds, and the {@link BuildSpec} made from them. */
abstract class AbstractFirmwareMojo extends AbstractModelsMojo {
    /**
     * Version of the models, which programs read as {@code TVMGEN_NAME_MODEL_VERSION}; the default is the project's.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.modelVersion", defaultValue = "${project.version}")
    private String modelVersion;

    /**
     * What is replaced in the field without the firmware: {@code none}, or {@code slots} for the models, which lie in one of two slots of
     * the board's flash; {@code IMAGE.update} then has them for both.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.update", defaultValue = "none")
    private String update;

    /**
     * The file of the Ed25519 key that signs updates: PKCS#8 in PEM, not encrypted, outside of the project's repository. Firmware has only the
     * public key.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.update.key")
    private File updateKey;

    /**
     * Id of a {@code server} in settings.xml whose {@code privateKey} is the file of the key, if {@code kiln.update.key} is not set.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.update.server")
    private String updateServer;

    /**
     * The oldest version of the firmware that the models work with; devices with an older one refuse them.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.update.minimumFirmware", defaultValue = "0.0.0")
    private String minimumFirmware;

    /**
     * The header before the whole image: {@code none}, or {@code mcuboot} for {@code IMAGE.mcuboot.bin} in the format of the boot loader
     * MCUboot, signed if there is a key.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.imageHeader", defaultValue = "none")
    private String imageHeader;

    /**
     * The log of tuning records that the build follows and {@code kiln:tune} writes. If not set, {@code src/main/tuning/BOARD.log}; if
     * there is no such file, rules choose all schedules.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.tune.records")
    private File tuneRecords;

    /**
     * What {@code kiln:tune} makes as small as possible: {@code cycles} (estimated from the executed instructions), {@code instructions}, {@code
     * time} (on a board), {@code size} or {@code ram}, or several with weights, such as {@code cycles:1,size:0.2}, each relative to the choice of the
     * rules. If not set: {@code size} with {@code kiln.optimize=size}, {@code time} on a board, {@code cycles} where the core has a timing table, and
     * {@code instructions} elsewhere. It must be one that builds with this {@code kiln.optimize} follow. With {@code instructions}, every build leaves
     * records of {@code cycles} and {@code time} alone and follows those of {@code instructions}; otherwise it leaves these alone where the core has a
     * timing table.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.tune.objective")
    private String tuneObjective;

    /** What a search minimises, if it is set. */
    final Optional<String> tuneObjective() {
        return Optional.ofNullable(tuneObjective);
    }

    /** The tuning records to follow, with those of other projects. */
    final RecordsSpec records(List<Path> shared) {
        return RecordsSpec.of(Optional.ofNullable(tuneRecords).map(File::toPath), shared, tuneObjective());
    }

    /** Version of the models; empty if there is none. */
    final String modelVersion() {
        return modelVersion == null ? "" : modelVersion;
    }

    private Optional<Path> key() {
        if (updateKey != null || updateServer == null || updateServer.isBlank()) {
            return Optional.ofNullable(updateKey).map(File::toPath);
        }
        Server server = session().getSettings().getServer(updateServer);
        if (server == null || server.getPrivateKey() == null) {
            throw new KilnException(Failure.UPDATE.problem(
                    "settings.xml has no private key for '" + updateServer + "'",
                    "kiln.update.server",
                    "a <server> with this <id> and a <privateKey>, the path of the key",
                    "Add it, or set kiln.update.key"));
        }
        return Optional.of(Path.of(server.getPrivateKey()));
    }

    /**
     * The model: a {@code .tflite} or {@code .onnx} file, or a {@code .relay} text with its {@code .params} beside it. {@code
     * group:artifact:version} is an artifact of packaging {@code model}, with {@code :FILE} if it has several models, and with {@code :mlf} the
     * archive of a firmware project. If neither this nor {@code models} is set, the one file in {@code src/main/model}, or the one dependency of
     * type {@code model}.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.model")
    private String model;

    /**
     * Name of the model in the generated C: {@code tvmgen_NAME_run}.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.name", defaultValue = "default")
    private String name;

    /**
     * Several models in one image, each an element {@code model} with {@code file}, or coordinates in its place, and {@code name}; instead of {@code model} and {@code name}.
     *
     * @since 0.1.0
     */
    @Parameter
    private List<Model> models;

    /**
     * The board: its id, or {@code group:artifact:version:id} for one from an artifact of packaging {@code board-profile}. The
     * boards of dependencies of type {@code board-profile} are known by their ids. {@code kiln:boards} lists those built in and
     * the project's own.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.board", defaultValue = "mps2-an386")
    private String board;

    /**
     * Boards from artifacts that may bring their own Tcl or emulator, both of which can run programs on this computer: {@code group:artifact},
     * {@code group:artifact:version} or {@code group:artifact:version:id}, separated by commas. Every other such board is refused.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.trustBoard", defaultValue = "")
    private String trustBoard;

    /**
     * Archives in Model Library Format, separated by commas, whose C is compiled like the project's own: each
     * {@code sha256:} with the file's digest, or the file's name for one that the project makes itself. The C of every other
     * archive is first checked against a small language.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.trustArchive", defaultValue = "")
    private String trustArchive;

    /**
     * The toolchain: {@code clang} (bundled and pinned), {@code gnu}, {@code host} or a descriptor's file. If not set, the one
     * that the board names; otherwise {@code host} for the board {@code host} and {@code clang} for every other.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.toolchain")
    private String toolchain;

    /**
     * What to optimize for: {@code speed} (fewest instructions), {@code size} (least flash) or {@code ram} (least RAM).
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.optimize", defaultValue = "speed")
    private String optimize;

    /**
     * Who owns inputs and outputs: {@code caller}, or {@code workspace} to keep them in one pool with the workspace.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.io", defaultValue = "caller")
    private String io;

    /**
     * What runs on an image whose project has no {@code main} of its own: {@code console}, by which a host runs whole models, or
     * {@code rpc}, microTVM's RPC server, by which it calls and times single functions. An image with a server is for the bench only.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.application", defaultValue = "console")
    private String application;

    /**
     * Version of the Model Library Format: 7, or 5 for tools that support no newer one. Several models are always written as version 7.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.mlfVersion", defaultValue = "7")
    private int mlfVersion;

    /**
     * What the Model Library Format archive holds, by the element {@code slim}; if it is not set, the property {@code
     * kiln.mlf.slim} applies.
     *
     * @since 0.1.0
     */
    @Parameter
    private Mlf mlf;

    /**
     * Whether the archive's Relay text and parameters omit the constants' data; the C has it in any case. A slim
     * archive cannot be compiled again from its text.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.mlf.slim", defaultValue = "false")
    private boolean mlfSlim;

    /**
     * Shapes of the model's inputs, {@code name:1,96,96,1;other:1,10}, for dimensions that the model leaves open or for
     * another batch size. All other shapes follow from them.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.inputShapes")
    private String inputShapes;

    /**
     * Whether an image in QEMU may open files and start programs on this computer through semihosting. Only for images
     * whose code you trust, including models that came as archives.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.semihosting", defaultValue = "false")
    private boolean semihosting;

    /**
     * Folders of code that are compiled like {@code src/main/c}, each an element {@code source}, or separated by commas.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.sources")
    private List<String> sources;

    /**
     * Folders that are searched for headers by the project's own code, separated by commas. All that they hold is copied into the C project.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.include")
    private List<String> include;

    /**
     * Macros for the project's own code, {@code NAME} or {@code NAME=value}, separated by commas; a value with a comma needs an element of its own.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.define")
    private List<String> define;

    /**
     * Further arguments of the compiler for the project's own code, separated by commas. They are passed on as they are. A
     * {@code -std} of C++ applies to C++ only, and one of C to C only.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.compilerArgs")
    private List<String> compilerArgs;

    /**
     * The C library of the project's own code: {@code none}, or {@code nano} for the small one of the GNU toolchain, newlib-nano or picolibc,
     * whose {@code printf} and {@code malloc} use the board's console and memory.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.libc", defaultValue = "none")
    private String libc;

    /** The timestamp of reproducible builds. */
    @Parameter(defaultValue = "${project.build.outputTimestamp}", readonly = true)
    private String outputTimestamp;

    /** The folders of the build; goals called by hand may use others. */
    Layout layout(List<ModelSource> sources) {
        return projectLayout();
    }

    /** The user's request. */
    final BuildSpec spec() {
        Optional<SharedModel> shared = shared();
        List<ModelSource> modelSources = modelSources(shared);
        Problems malformed = new Problems(Failure.CONFIG);
        ImageOptions image = image(malformed);
        CompileOptions options = options(
                malformed,
                malformed.read(() -> Optimize.of(optimize)).orElse(Optimize.SPEED),
                malformed.read(() -> Io.of(io)).orElse(Io.CALLER),
                image.application());
        QuantizeSpec quantized =
                quantization(malformed, shared.flatMap(SharedModel::samples), shared.flatMap(SharedModel::labels));
        VerifySpec verify = verification(malformed);
        MachineSpec machine = machine(malformed);
        CodeSpec code = code(malformed);
        List<Path> sharedRecords =
                RecordArtifacts.fetch(project().getDependencies(), session().getProjects(), fetcher());
        RecordsSpec records = malformed.read(() -> records(sharedRecords)).orElse(RecordsSpec.USUAL);
        return new BuildSpec(
                layout(modelSources),
                modelSources,
                machine,
                compiler(options, quantized, records),
                new ArchiveSpec(
                        mlfVersion,
                        Timestamps.parse(outputTimestamp),
                        (mlf == null || mlf.slim() == null) ? mlfSlim : mlf.slim()),
                new ImageSpec(image, code, List.of(), semihosting, verify, farmUse()),
                malformed.list());
    }

    private MachineSpec machine(Problems malformed) {
        BoardArtifacts artifacts = new BoardArtifacts(board);
        String version = String.valueOf(project().getVersion());
        return new MachineSpec(
                artifacts.id(),
                Optional.ofNullable(toolchain),
                boardSources(artifacts, trustBoard),
                malformed
                        .read(() -> UpdateSpec.of(
                                update,
                                imageHeader,
                                key(),
                                new UpdateSpec.Versions(modelVersion(), version, minimumFirmware)))
                        .orElse(UpdateSpec.NONE));
    }

    private ImageOptions image(Problems malformed) {
        return new ImageOptions(
                malformed.read(() -> Application.of(application)).orElse(Application.CONSOLE),
                TrustedArchives.parse(trustArchive == null ? "" : trustArchive));
    }

    /** The project's own code beside that in {@code src/main/c}. */
    private CodeSpec code(Problems malformed) {
        return new CodeSpec(
                GivenWords.folders(folder(), sources),
                GivenWords.folders(folder(), include),
                new CodeFlags(
                        GivenWords.of(define),
                        GivenWords.of(compilerArgs),
                        malformed.read(() -> Libc.of(libc)).orElse(Libc.NONE)),
                new LibraryArtifacts(session().getProjects(), fetcher())
                        .of(project().getDependencies()));
    }

    /** Shapes of a single model's inputs; empty for the file's. */
    final String inputShapes() {
        return inputShapes == null ? "" : inputShapes;
    }

    /** The single model that is named, or that a dependency brings because the project has none of its own. */
    private Optional<SharedModel> shared() {
        boolean hasOwn = models != null || Files.isDirectory(projectLayout().userModels());
        return modelArtifacts()
                .find(
                        Optional.ofNullable(model),
                        folder(),
                        hasOwn ? List.of() : project().getDependencies());
    }

    private List<ModelSource> modelSources(Optional<SharedModel> shared) {
        List<Model> named = models == null ? List.of() : models;
        List<ModelSource> given = named.stream()
                .map(each -> each.source(folder(), text -> modelArtifacts().named(text, folder())))
                .toList();
        String shapes =
                inputShapes().isEmpty() ? shared.map(SharedModel::inputShapes).orElse("") : inputShapes();
        Path folder = projectLayout().userModels();
        Optional<ModelSource> single =
                shared.map(each -> new ModelSource(each.file(), name, shapes, "", Optional.empty(), each.vectors()));
        List<ModelSource> chosen = ModelFiles.choose(given, single, name, shapes, folder);
        String version = project().getFile() == null ? "" : modelVersion();
        return preprocessed(chosen, version);
    }
}
