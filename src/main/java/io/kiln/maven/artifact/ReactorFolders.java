// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.artifact;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.firmware.CodeLibrary;
import io.kiln.flow.model.SharedModel;
import io.kiln.flow.spec.BoardSources;
import io.kiln.toolchain.compiler.ToolchainEnvironment.ArtifactFetcher;
import io.kiln.toolchain.pack.Packs.PackSource;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.maven.artifact.Artifact;
import org.apache.maven.model.Dependency;
import org.apache.maven.model.Plugin;
import org.apache.maven.project.MavenProject;
import org.codehaus.plexus.util.xml.Xpp3Dom;

/**
 * Fetches artifacts that are packed folders, such as board profiles, from modules of this build first. Before such a module is packaged it has
 * no file, so {@code mvn compile} and an editor's import get the folder.
 *
 * @param part what is fetched
 * @param modules the modules of this build
 * @param others fetches artifacts of other projects
 */
public record ReactorFolders(Part part, List<MavenProject> modules, ArtifactFetcher others) implements ArtifactFetcher {
    /** Board profiles. */
    public static final Part BOARDS =
            new Part(BoardArtifacts.TYPE, "boardsDirectory", Path.of("src", "main", "boards"));

    /** Models with their vectors. */
    static final Part MODELS = new Part(ModelArtifacts.TYPE, "modelDirectory", Path.of("src", "main", "model"));

    private static final String PLUGIN = "io.kiln:kiln-maven-plugin";

    /** Deepest level of an editor's output folder in a module. */
    private static final int DEEPEST_OUTPUT = 3;

    /**
     * What is packed.
     *
     * @param packaging of the modules
     * @param parameter that names the folder, also a property with the prefix {@code kiln.}
     * @param usual the folder if nothing names it
     */
    public record Part(String packaging, String parameter, Path usual) {}

    public ReactorFolders {
        modules = List.copyOf(modules);
    }

    /** The artifact's file, or a folder. */
    @Override
    public Path fetch(String groupId, String artifactId, String version, String classifier, String extension) {
        return module(modules, part.packaging(), groupId, artifactId, version)
                .map(module -> packed(module).orElseGet(() -> folder(module)))
                .orElseGet(() ->
                        ofWorkspace(others.fetch(groupId, artifactId, version, classifier, extension), part.usual()));
    }

    /** The module of this build that makes an artifact, if one does. */
    static Optional<MavenProject> module(
            List<MavenProject> modules, String packaging, String groupId, String artifactId, String version) {
        return modules.stream()
                .filter(module -> module.getPackaging().equals(packaging)
                        && module.getGroupId().equals(groupId)
                        && module.getArtifactId().equals(artifactId)
                        && module.getVersion().equals(version))
                .findFirst();
    }

    private static Optional<MavenProject> module(List<MavenProject> modules, Dependency wanted) {
        return module(modules, wanted.getType(), wanted.getGroupId(), wanted.getArtifactId(), wanted.getVersion());
    }

    /** The file of a module, once it is packaged. */
    private static Optional<Path> packed(MavenProject module) {
        return Optional.ofNullable(module.getArtifact().getFile())
                .filter(File::isFile)
                .map(File::toPath);
    }

    /** The folder that the module itself uses: its own configuration, the property, or the default. */
    private Path folder(MavenProject module) {
        String named = Stream.of(
                        configured(module),
                        Optional.ofNullable(module.getProperties().getProperty("kiln." + part.parameter())))
                .flatMap(Optional::stream)
                .findFirst()
                .orElse(part.usual().toString());
        return module.getBasedir().toPath().resolve(named);
    }

    private Optional<String> configured(MavenProject module) {
        return Optional.ofNullable(module.getPlugin(PLUGIN))
                .map(Plugin::getConfiguration)
                .filter(Xpp3Dom.class::isInstance)
                .map(Xpp3Dom.class::cast)
                .map(configuration -> configuration.getChild(part.parameter()))
                .map(Xpp3Dom::getValue);
    }

    /**
     * What was fetched. Editors resolve a project of the workspace to its output folder; then it is a folder of the project.
     *
     * @param wanted the folder, relative to the project
     */
    static Path ofWorkspace(Path fetched, Path wanted) {
        Path folder = fetched;
        for (int i = 0; i <= DEEPEST_OUTPUT && folder != null && Files.isDirectory(fetched); i++) {
            if (Files.isRegularFile(folder.resolve("pom.xml"))) {
                return folder.resolve(wanted);
            }
            folder = folder.getParent();
        }
        return fetched;
    }

    /**
     * Finds the dependencies of type {@code firmware-library}. A module of this build that is not packaged yet is taken from its
     * sources, so that {@code mvn compile} works.
     *
     * @param modules the modules of this build
     * @param others fetches artifacts of other projects
     */
    public record LibraryArtifacts(List<MavenProject> modules, ArtifactFetcher others) {
        private static final String TYPE = "firmware-library";
        private static final String EXTENSION = "zip";
        private static final Path SOURCES = Path.of("src", "main");

        public LibraryArtifacts {
            modules = List.copyOf(modules);
        }

        /** The libraries, in the order of the dependencies. */
        public List<CodeLibrary> of(List<Dependency> dependencies) {
            return dependencies.stream()
                    .filter(dependency -> TYPE.equals(dependency.getType()))
                    .map(dependency -> new CodeLibrary(dependency.getArtifactId(), place(dependency)))
                    .toList();
        }

        private Path place(Dependency wanted) {
            return module(modules, wanted)
                    .map(module -> packed(module)
                            .orElseGet(() -> module.getBasedir().toPath().resolve(SOURCES)))
                    .orElseGet(() -> ofWorkspace(
                            others.fetch(
                                    wanted.getGroupId(), wanted.getArtifactId(), wanted.getVersion(), "", EXTENSION),
                            SOURCES));
        }
    }

    /**
     * Finds the tuning records that a project depends on: dependencies of type {@code tuning-records}. A module of this build has no file before it is
     * packaged, so that {@code mvn compile} gets the folder of its logs.
     */
    public static final class RecordArtifacts {
        private static final String TYPE = "tuning-records";
        private static final String EXTENSION = "log";

        private RecordArtifacts() {}

        /**
         * Fetches the artifacts in the order of the dependencies.
         *
         * @param modules the modules of this build
         * @return logs, or folders of logs
         */
        public static List<Path> fetch(
                List<Dependency> dependencies, List<MavenProject> modules, ArtifactFetcher fetcher) {
            return dependencies.stream()
                    .filter(dependency -> TYPE.equals(dependency.getType()))
                    .map(dependency -> module(modules, dependency)
                            .map(module -> packed(module)
                                    .orElseGet(() -> folder(module.getBasedir().toPath())))
                            .orElseGet(() -> fetcher.fetch(
                                    dependency.getGroupId(),
                                    dependency.getArtifactId(),
                                    dependency.getVersion(),
                                    "",
                                    EXTENSION)))
                    .toList();
        }

        /** The logs of a project. */
        public static Path folder(Path project) {
            return project.resolve("src").resolve("main").resolve("tuning");
        }
    }

    /**
     * Finds the model of a build: a file, an artifact of packaging {@code model}, or the archive of a firmware project.
     *
     * @param modules the modules of this build
     * @param others fetches artifacts of other projects
     * @param home folder in which artifacts are unpacked
     */
    public record ModelArtifacts(List<MavenProject> modules, ArtifactFetcher others, Path home) {
        static final String TYPE = "model";
        private static final String FIRMWARE = "firmware";
        private static final String ARCHIVE = "mlf";

        /** Coordinates cannot be mistaken for a path: no system has paths with two colons between words. */
        private static final Pattern COORDINATES =
                Pattern.compile("[A-Za-z0-9_.-]+:[A-Za-z0-9_.-]+:[A-Za-z0-9_.-]+(:[A-Za-z0-9_.+/-]+)?");

        public ModelArtifacts {
            modules = List.copyOf(modules);
        }

        /**
         * The model that is named, or else that of a dependency; empty if there is neither.
         *
         * @param text what the user names, if anything
         * @param folder that a relative file is relative to
         */
        public Optional<SharedModel> find(Optional<String> text, Path folder, List<Dependency> dependencies) {
            return text.map(name -> named(name, folder)).or(() -> ofDependency(dependencies));
        }

        /**
         * The model that the user names.
         *
         * @param text a file, {@code group:artifact:version}, with {@code :FILE} for one file of several, or with {@code :mlf} for the archive of
         *     a firmware project
         * @param folder that a relative file is relative to
         */
        public SharedModel named(String text, Path folder) {
            if (!COORDINATES.matcher(text).matches()) {
                return SharedModel.of(folder.resolve(text));
            }
            String[] words = text.split(":", -1);
            return of(words[0], words[1], words[2], words.length > 3 ? Optional.of(words[3]) : Optional.empty());
        }

        /** The model of the only dependency of type {@code model}; empty if there is none, or if there are several to choose from. */
        public Optional<SharedModel> ofDependency(List<Dependency> dependencies) {
            List<Dependency> models = dependencies.stream()
                    .filter(dependency -> TYPE.equals(dependency.getType()))
                    .toList();
            return models.size() == 1
                    ? Optional.of(of(
                            models.get(0).getGroupId(),
                            models.get(0).getArtifactId(),
                            models.get(0).getVersion(),
                            Optional.empty()))
                    : Optional.empty();
        }

        private SharedModel of(String group, String artifact, String version, Optional<String> file) {
            Optional<MavenProject> firmware = ReactorFolders.module(modules, FIRMWARE, group, artifact, version);
            if (firmware.isPresent()) {
                return SharedModel.of(archive(firmware.get()));
            }
            if (file.filter(ARCHIVE::equals).isPresent()) {
                return SharedModel.of(others.fetch(group, artifact, version, ARCHIVE, "tar"));
            }
            ArtifactFetcher reactor = new ReactorFolders(ReactorFolders.MODELS, modules, others);
            return SharedModel.of(reactor.fetch(group, artifact, version, "", "zip"), file, home);
        }

        /** The archive that is attached; before the module is packaged, the one that it generated. */
        private static Path archive(MavenProject module) {
            return module.getAttachedArtifacts().stream()
                    .filter(attached -> ARCHIVE.equals(attached.getClassifier()))
                    .map(Artifact::getFile)
                    .map(File::toPath)
                    .filter(Files::isRegularFile)
                    .findFirst()
                    .orElseGet(() -> Path.of(module.getBuild().getDirectory())
                            .resolve("generated-sources")
                            .resolve("kiln")
                            .resolve("model-mlf.tar"));
        }
    }

    /**
     * Finds the artifacts of boards: the dependencies of type {@code board-profile}, and the one that the board's
     * coordinates name.
     */
    public static final class BoardArtifacts {
        static final String TYPE = "board-profile";
        private static final String EXTENSION = "zip";

        /** Those of dependencies alone. */
        public static final BoardArtifacts OF_DEPENDENCIES = new BoardArtifacts("none");

        private final String[] words;

        /**
         * The board as the user names it.
         *
         * @param board an id, or {@code group:artifact:version:id}
         * @throws KilnException for any other text
         */
        public BoardArtifacts(String board) {
            words = board.strip().split(":", -1);
            if ((words.length != 1 && words.length != 4) || Stream.of(words).anyMatch(String::isBlank)) {
                throw Failure.BOARD.exception(
                        "not a valid board: " + board, "kiln.board", "an id, or group:artifact:version:id");
            }
        }

        /** The board's id. */
        public String id() {
            return words[words.length - 1];
        }

        /** Fetches the artifacts, each once. */
        public BoardSources fetch(List<Dependency> dependencies, String trusted, ArtifactFetcher fetcher) {
            List<BoardSources.Archive> archives = new ArrayList<>();
            Stream<List<String>> named =
                    words.length == 4 ? Stream.of(List.of(words).subList(0, 3)) : Stream.of();
            Stream.concat(
                            named,
                            dependencies.stream()
                                    .filter(dependency -> TYPE.equals(dependency.getType()))
                                    .map(d -> List.of(d.getGroupId(), d.getArtifactId(), d.getVersion())))
                    .distinct()
                    .forEach(gav -> archives.add(new BoardSources.Archive(
                            fetcher.fetch(gav.get(0), gav.get(1), gav.get(2), "", EXTENSION), String.join(":", gav))));
            Set<String> coordinates = Stream.of(trusted.split(",", -1))
                    .map(String::strip)
                    .filter(each -> !each.isEmpty())
                    .collect(Collectors.toSet());
            return new BoardSources(archives, coordinates, PackSource.of(fetcher));
        }
    }
}
