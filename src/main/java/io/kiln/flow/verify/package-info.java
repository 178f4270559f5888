// SPDX-License-Identifier: Apache-2.0
/** The steps that prove and measure an image: verify and profile, and their records. */
package io.kiln.flow.verify;
