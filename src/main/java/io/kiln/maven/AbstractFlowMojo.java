// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.farm.link.FarmAccess;
import io.kiln.farm.link.FarmAccess.Store;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.LocalToken;
import io.kiln.flow.BoardFlow;
import io.kiln.flow.Flow;
import io.kiln.flow.spec.FarmUse;
import io.kiln.maven.artifact.FarmEngine;
import io.kiln.maven.artifact.MavenArtifacts;
import io.kiln.maven.artifact.ModelArtifacts;
import io.kiln.maven.session.GnuToolchain;
import io.kiln.maven.session.MojoLog;
import io.kiln.toolchain.compiler.ArtifactFetcher;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import java.io.File;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.inject.Inject;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.toolchain.MisconfiguredToolchainException;
import org.apache.maven.toolchain.model.ToolchainModel;
import org.eclipse.aether.RepositorySystem;

/** A goal that passes repositories, toolchains.xml and the log from Maven to the flow. */
abstract class AbstractFlowMojo extends AbstractKilnMojo {
    /**
     * Folder of unpacked toolchains and of objects of sources that many firmwares have, shared by all builds. If not set, the environment's {@code KILN_HOME}, or
     * {@code kiln} beside the local repository.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.home")
    private File home;

    /**
     * A farm that runs images in place of this computer: {@code tcp://localhost:PORT}, or {@code tls://HOST:PORT} for one on another
     * computer. If not set, everything runs here.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.farm")
    private String farm;

    /**
     * A PKCS #12 file with the key and the certificate of this member of the farm, or of the broker.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.farm.keyStore")
    private File farmKeyStore;

    /**
     * Password of {@code kiln.farm.keyStore}.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.farm.keyStorePassword")
    private String farmKeyStorePassword;

    /**
     * A PKCS #12 file with the certificates that this member of the farm trusts: those of other members, or of whoever signed them.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.farm.trustStore")
    private File farmTrustStore;

    /**
     * Password of {@code kiln.farm.trustStore}.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.farm.trustStorePassword")
    private String farmTrustStorePassword;

    /**
     * The password that all members of the farm know; with it, they need no certificates of their own. If not set, the members of a farm without TLS
     * share the token in {@code kiln.home}.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.farm.password")
    private String farmPassword;

    /**
     * Seconds without any result of the farm after which the goal fails.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.farm.timeout", defaultValue = "600")
    private int farmTimeout;

    @Inject
    private RepositorySystem repositories;

    /** The flow for this session and project. */
    final Flow flow() {
        return new Flow(new MojoLog(getLog()), environment());
    }

    /** The farm that runs images, if there is one. */
    final Optional<FarmUse> farmUse() {
        return farm == null || farm.isBlank()
                ? Optional.empty()
                : Optional.of(new FarmUse(farmAddress(farm), Duration.ofSeconds(Math.max(1, farmTimeout))));
    }

    /** A farm's address with this member's credentials; fetches the engine of farms. */
    final FarmAddress farmAddress(String url) {
        new FarmEngine(repositories, session().getRepositorySession(), project()).provide();
        FarmAccess access = new FarmAccess(
                Optional.ofNullable(farmKeyStore).map(file -> store(file, farmKeyStorePassword)),
                Optional.ofNullable(farmTrustStore).map(file -> store(file, farmTrustStorePassword)),
                Optional.ofNullable(farmPassword).filter(text -> !text.isEmpty()));
        FarmAddress address = FarmAddress.parse(url, access);
        return address.isLoopback()
                        && !address.isEncrypted()
                        && access.password().isEmpty()
                ? new FarmAddress(address.host(), address.port(), false, FarmAccess.by(LocalToken.of(homeFolder())))
                : address;
    }

    private static Store store(File file, String password) {
        return new Store(file.toPath(), password == null ? "" : password);
    }

    /** The flow of boards for this session and project. */
    final BoardFlow boardFlow() {
        return new BoardFlow(new MojoLog(getLog()), environment());
    }

    /** Where toolchains come from. */
    final ToolchainEnvironment environment() {
        return new ToolchainEnvironment(homeFolder(), gnuHomes(), fetcher(), new MojoLog(getLog()));
    }

    /** Maven's own resolution. */
    final ArtifactFetcher fetcher() {
        return new MavenArtifacts(repositories, session().getRepositorySession(), project());
    }

    /** Finds models by files and by coordinates. */
    final ModelArtifacts modelArtifacts() {
        return new ModelArtifacts(session().getProjects(), fetcher(), homeFolder());
    }

    /** Folder of what all builds share. */
    final Path homeFolder() {
        return home == null
                ? ToolchainEnvironment.defaultHome(
                        Path.of(session().getLocalRepository().getBasedir()))
                : home.toPath().toAbsolutePath().normalize();
    }

    /**
     * GNU toolchains of toolchains.xml, read from the request: in a folder without a project no extension is loaded
     * that knows the type.
     */
    private List<Path> gnuHomes() {
        List<Path> homes = new ArrayList<>();
        for (ToolchainModel model : session().getRequest().getToolchains().getOrDefault(GnuToolchain.TYPE, List.of())) {
            try {
                homes.add(GnuToolchain.of(model).folder());
            } catch (MisconfiguredToolchainException e) {
                throw new KilnException(Problem.of(e.getMessage(), ""), e);
            }
        }
        return homes;
    }
}
