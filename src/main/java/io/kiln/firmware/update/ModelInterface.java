// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.update;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.Digests;
import io.kiln.firmware.SourceText;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Everything that a firmware knows of its models at compile time: their functions, their tensors with types, shapes and scales, and the
 * signal processing
 * before them, which the program calls and which stays when models are updated.
 */
record ModelInterface(List<ModelLibrary> models) {
    private static final int DIGEST_BYTES = 16;

    /**
     * A function of a model.
     *
     * @param names names of the model
     * @param takesTensors whether it runs the model; otherwise it takes nothing
     */
    record Function(InterfaceNames names, String name, boolean takesTensors) {}

    /** The functions that a firmware calls, in the order of the regions' tables. */
    List<Function> functions() {
        List<Function> functions = new ArrayList<>();
        for (ModelLibrary model : models) {
            InterfaceNames names = new InterfaceNames(model.metadata().name());
            functions.add(new Function(names, names.run(), true));
            boolean hasReset = model.artifacts().of(ArtifactKind.HEADER).stream()
                    .map(Artifact::text)
                    .anyMatch(header -> header.contains(" " + names.reset() + "("));
            if (hasReset) {
                functions.add(new Function(names, names.reset(), false));
            }
        }
        return functions;
    }

    /** Digest of the interface: the first 16 bytes of the SHA-256 of all of it as text. */
    Bytes digest() {
        String functions = functions().stream().map(Function::name).collect(Collectors.joining(" "));
        String processing = models.stream()
                .flatMap(ModelInterface::processing)
                .map(file -> SourceText.withoutComments(file.text()))
                .collect(Collectors.joining());
        byte[] all = HexFormat.of().parseHex(Digests.sha256(functions + "\n" + tensors() + processing));
        return Bytes.wrap(Arrays.copyOf(all, DIGEST_BYTES));
    }

    String tensors() {
        StringBuilder lines = new StringBuilder();
        for (ModelLibrary model : models) {
            String name = model.metadata().name();
            model.metadata().inputs().forEach(tensor -> lines.append(name + " input " + line(tensor)));
            model.metadata().outputs().forEach(tensor -> lines.append(name + " output " + line(tensor)));
        }
        return lines.toString();
    }

    /** The scale by its bits, because Java releases print some numbers differently, and devices stay in the field for longer than a release. */
    private static String line(TensorInfo tensor) {
        return tensor.cName() + " " + tensor.dtype().text() + tensor.shape() + " scale "
                + Integer.toHexString(Float.floatToIntBits(tensor.scale())) + " zero point " + tensor.zeroPoint()
                + "\n";
    }

    /** The C of the signal processing before a model. */
    private static Stream<Artifact> processing(ModelLibrary model) {
        String source = new InterfaceNames(model.metadata().name()).preprocessSource();
        return model.artifacts().of(ArtifactKind.SOURCE).stream()
                .filter(file -> file.fileName().equals(source));
    }

    /** The part that stays in the firmware: the models' headers and the signal processing. */
    List<ModelLibrary> staying() {
        return models.stream()
                .map(model -> with(
                        model, Stream.concat(model.artifacts().of(ArtifactKind.HEADER).stream(), processing(model))))
                .toList();
    }

    /** The part that lies in a slot: everything but the signal processing. */
    List<ModelLibrary> updated() {
        return models.stream()
                .map(model -> {
                    Set<Artifact> staying = processing(model).collect(Collectors.toSet());
                    return with(model, model.artifacts().artifacts().stream().filter(file -> !staying.contains(file)));
                })
                .toList();
    }

    private static ModelLibrary with(ModelLibrary model, Stream<Artifact> files) {
        return new ModelLibrary(model.metadata(), model.artifacts().with(files.toList()), model.origin());
    }

    /** Names of the models, separated by commas. */
    String names() {
        return models.stream().map(model -> model.metadata().name()).collect(Collectors.joining(","));
    }
}
