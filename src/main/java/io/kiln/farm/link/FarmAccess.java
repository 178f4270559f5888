// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import java.nio.file.Path;
import java.util.Optional;

/**
 * How a member of a farm proves its identity, and whom it trusts.
 *
 * @param keys the member's own key and certificate
 * @param trust certificates of the members that it trusts, or of whoever signed these
 * @param password a password that all members of the farm know
 */
public record FarmAccess(Optional<Store> keys, Optional<Store> trust, Optional<String> password) {
    /** Access by a password alone. */
    public static FarmAccess by(String password) {
        return new FarmAccess(Optional.empty(), Optional.empty(), Optional.of(password));
    }

    /**
     * A store of keys or certificates.
     *
     * @param file in the format PKCS #12
     * @param password its password
     */
    public record Store(Path file, String password) {
        /** The file, without the password. */
        @Override
        public String toString() {
            return file.toString();
        }
    }

    /** The kinds of proof, without secrets. */
    @Override
    public String toString() {
        return "keys " + keys + ", trust " + trust + (password.isPresent() ? ", a password" : "");
    }
}
