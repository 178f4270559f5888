// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Bytes;
import io.kiln.codegen.CodeUnit.CodeOrigin;
import io.kiln.executor.SystemLibrarySource;
import io.kiln.target.Target;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The system library of several models: an image has at most one. Archives may bring their own, and a linker refuses two. */
public final class SystemLibrary {
    private static final String ENTRY = "TVMSystemLibEntryPoint";

    /** What TVM calls the only function of a graph once more. */
    private static final String MAIN = "__tvm_main__";

    private static final Pattern CALLED = Pattern.compile("\\b" + MAIN + "\\(");

    private static final Pattern DEFINITION = Pattern.compile("\\b" + ENTRY + "\\s*\\(\\s*void\\s*\\)\\s*\\{");

    private SystemLibrary() {}

    /**
     * The same models, which have one system library at most.
     *
     * @param isWanted whether there has to be one, even if no model brings one
     */
    public static List<ModelLibrary> united(List<ModelLibrary> models, boolean isWanted) {
        return !suffices(models) || (isWanted && models.size() > 1)
                ? shared(models.stream().map(SystemLibrary::withoutLibrary).toList())
                : models;
    }

    /** Whether the models bring no more system libraries than an image can have, and no fewer than it needs. */
    public static boolean suffices(List<ModelLibrary> models) {
        long libraries = models.stream()
                .flatMap(model -> model.artifacts().of(ArtifactKind.SOURCE).stream())
                .filter(SystemLibrary::isDefinedIn)
                .count();
        return libraries <= 1 && !lacks(models);
    }

    /** Whether there is none, and an executor has to find operators by their names. */
    private static boolean lacks(List<ModelLibrary> models) {
        return models.stream().anyMatch(model -> model.metadata().api().executor() == ExecutorKind.GRAPH)
                && !isThere(models);
    }

    /** The same models, with a system library of all their functions if none brings one. */
    public static List<ModelLibrary> ensured(List<ModelLibrary> models) {
        return isThere(models) ? models : shared(models);
    }

    private static boolean isThere(List<ModelLibrary> models) {
        return models.stream()
                .flatMap(model -> model.artifacts().artifacts().stream())
                .anyMatch(artifact -> (artifact.kind() == ArtifactKind.SOURCE && isDefinedIn(artifact))
                        || (artifact.kind() == ArtifactKind.OBJECT && isNamedIn(artifact)));
    }

    /** Whether an object defines it: only its definition contains the name, because nothing in a model calls it. */
    private static boolean isNamedIn(Artifact object) {
        return new String(object.content().toArray(), StandardCharsets.ISO_8859_1).contains(ENTRY);
    }

    /**
     * The same models, the first of which brings a system library with the packed functions of all.
     *
     * @param models at least one, none of which has a system library of its own
     */
    public static List<ModelLibrary> shared(List<ModelLibrary> models) {
        List<String> functions = models.stream()
                .flatMap(model -> model.metadata().api().functions().stream())
                .toList();
        ModelLibrary first = models.get(0);
        String names = models.stream().map(model -> model.metadata().name()).collect(Collectors.joining(", "));
        CodeOrigin origin = new CodeOrigin(names, Target.parse(first.metadata().target()));
        List<Artifact> artifacts = new ArrayList<>(first.artifacts().artifacts());
        artifacts.add(SystemLibrarySource.shared(origin, functions).artifact());
        List<ModelLibrary> shared = new ArrayList<>(models);
        shared.set(0, new ModelLibrary(first.metadata(), first.artifacts().with(artifacts), first.origin()));
        return List.copyOf(shared);
    }

    private static boolean isDefinedIn(Artifact source) {
        String text = source.text();
        return text.contains(ENTRY) && DEFINITION.matcher(text).find();
    }

    /**
     * Removes a library shared by several models; one in the file of an entry point gets a name that nothing looks up, and the function
     * that may have the name of another model's gets one of its own.
     */
    private static ModelLibrary withoutLibrary(ModelLibrary model) {
        String prefix = new InterfaceNames(model.metadata().name()).prefix() + "_";
        List<Artifact> artifacts = model.artifacts().artifacts().stream()
                .filter(artifact -> !artifact.fileName().equals(SystemLibrarySource.SHARED_FILE))
                .map(artifact -> artifact.kind() == ArtifactKind.SOURCE ? renamed(artifact, prefix) : artifact)
                .toList();
        return new ModelLibrary(model.metadata(), model.artifacts().with(artifacts), model.origin());
    }

    private static Artifact renamed(Artifact source, String prefix) {
        String text = source.text();
        String library = isDefinedIn(source) ? "#define " + ENTRY + " " + prefix + ENTRY + "\n" : "";
        String main = CALLED.matcher(text).find() ? "#define " + MAIN + " " + prefix + "entry\n" : "";
        return (library + main).isEmpty() ? source : source.withContent(Bytes.ofText(library + main + text));
    }
}
