// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.bom;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.kiln.report.bom.ImageComponent.Licence;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** A bill of materials in the form of CycloneDX 1.5 (ECMA-424), as JSON. The same image gives the same document. */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record CycloneDx(
        String bomFormat,
        String specVersion,
        String serialNumber,
        int version,
        Metadata metadata,
        List<Component> components,
        List<Dependency> dependencies) {
    private static final String FORMAT = "CycloneDX";
    private static final String SPECIFICATION = "1.5";

    public CycloneDx {
        components = List.copyOf(components);
        dependencies = List.copyOf(dependencies);
    }

    /** Metadata of the document: its time, its tool and the image. */
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    public record Metadata(String timestamp, Tools tools, Component component) {}

    /** The tool that made the document. */
    public record Tools(List<Component> components) {}

    /** A component; what is unknown is left out. */
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    public record Component(
            String type,
            @JsonProperty("bom-ref") String reference,
            String name,
            String version,
            String description,
            List<Hash> hashes,
            List<Choice> licenses) {}

    /** A digest. */
    public record Hash(String alg, String content) {}

    /** A component's licence: an expression of SPDX, or a name. */
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    public record Choice(
            String expression,
            @JsonInclude(JsonInclude.Include.NON_NULL) Named license) {}

    /** A licence without an expression. */
    public record Named(String name) {}

    /** What a component consists of. */
    public record Dependency(String ref, List<String> dependsOn) {}

    /**
     * The bill of an image.
     *
     * @param image its name
     * @param sha256 digest of its ELF file
     * @param made version of Kiln
     * @param time the time that the document states; empty for none
     * @param parts what is in it
     */
    public static CycloneDx of(
            String image, String sha256, String made, Optional<Instant> time, List<ImageComponent> parts) {
        Component subject =
                new Component("firmware", image, image, "", "", List.of(new Hash("SHA-256", sha256)), List.of());
        Component tool = new Component("application", "", "Kiln", made, "", List.of(), List.of());
        List<Component> components = parts.stream().map(CycloneDx::component).toList();
        return new CycloneDx(
                FORMAT,
                SPECIFICATION,
                "urn:uuid:" + UUID.nameUUIDFromBytes(sha256.getBytes(StandardCharsets.US_ASCII)),
                1,
                new Metadata(time.map(Instant::toString).orElse(""), new Tools(List.of(tool)), subject),
                components,
                List.of(new Dependency(
                        image, components.stream().map(Component::reference).toList())));
    }

    private static Component component(ImageComponent part) {
        return new Component(
                part.kind().text(),
                part.reference(),
                part.name(),
                part.version(),
                part.description(),
                part.sha256().isEmpty() ? List.of() : List.of(new Hash("SHA-256", part.sha256())),
                licences(part.licence()));
    }

    private static List<Choice> licences(Licence licence) {
        if (!licence.expression().isEmpty()) {
            return List.of(new Choice(licence.expression(), null));
        }
        return licence.name().isEmpty() ? List.of() : List.of(new Choice("", new Named(licence.name())));
    }
}
