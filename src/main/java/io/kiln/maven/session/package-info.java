// SPDX-License-Identifier: Apache-2.0
/** What goals read from and change in Maven's session and project beside their parameters. */
package io.kiln.maven.session;
