// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.farm.link.FarmAccess;
import io.kiln.farm.link.FarmAccess.Store;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.LocalToken;
import io.kiln.flow.spec.FarmUse;
import io.kiln.maven.artifact.FarmEngine;
import java.io.File;
import java.time.Duration;
import java.util.Optional;
import org.apache.maven.plugins.annotations.Parameter;

/** A goal that is a member of a farm, if the user names one. */
abstract class AbstractFarmMojo extends AbstractFlowMojo {
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

    /** The farm that runs images, if there is one. */
    final Optional<FarmUse> farmUse() {
        return farm == null || farm.isBlank()
                ? Optional.empty()
                : Optional.of(new FarmUse(farmAddress(farm), Duration.ofSeconds(Math.max(1, farmTimeout))));
    }

    /** A farm's address with this member's credentials; fetches the engine of farms. */
    final FarmAddress farmAddress(String url) {
        new FarmEngine(repositories(), session().getRepositorySession(), project()).provide();
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
}
