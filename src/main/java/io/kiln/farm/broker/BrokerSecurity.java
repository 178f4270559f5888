// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.broker;

import io.kiln.farm.link.FarmLink;
import io.kiln.farm.link.FarmMember;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Optional;
import java.util.Set;
import org.apache.activemq.artemis.core.security.CheckType;
import org.apache.activemq.artemis.core.security.Role;
import org.apache.activemq.artemis.spi.core.security.ActiveMQSecurityManager;

/**
 * Access control of the broker. There are two accounts: the members', and that of this process, whose name and password are random. Both may send
 * to and receive from the farm's queues, and nothing else: neither make queues nor manage the broker. If the farm has no password, TLS has let in
 * only members whose certificates the broker trusts.
 *
 * @param password what members have to know
 * @param own name and password of this process
 */
record BrokerSecurity(Optional<String> password, String own) implements ActiveMQSecurityManager {
    /** The rights of members on the queues. */
    static final Role MEMBER =
            new Role("member", true, true, false, false, false, false, false, true, false, false, false, false);

    @Override
    public boolean validateUser(String user, String given) {
        if (equal(user, own)) {
            return equal(given, own);
        }
        return (equal(user, FarmLink.USER)
                        || (user != null && FarmMember.of(user).isPresent()))
                && password.map(known -> equal(given, known)).orElse(true);
    }

    @Override
    public boolean validateUserAndRole(String user, String given, Set<Role> roles, CheckType type) {
        return validateUser(user, given) && roles.stream().anyMatch(type::hasRole);
    }

    /** Compares two texts, for as long if they differ as if they are equal. */
    private static boolean equal(String given, String known) {
        return given != null
                && MessageDigest.isEqual(
                        given.getBytes(StandardCharsets.UTF_8), known.getBytes(StandardCharsets.UTF_8));
    }
}
