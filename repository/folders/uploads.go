package folders

import (
	"context"
	"errors"

	"labshelf/auth"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/files"
)

// AdmitAt checks, before the body of an upload is read, whether a file can be stored at a path of
// the drive. check is called with the entry at the path, whose File is nil for a free path. It
// returns an error to refuse the upload.
func (s *Drive) AdmitAt(ctx context.Context, u *files.Upload, path DrivePath, check func(*DriveEntry) error) error {
	return u.Admit(ctx, func(tx *metadata.Tx, p auth.Principal) (metadata.ID, error) {
		at, err := locate(tx, p, path, auth.Add)
		if err == nil {
			err = at.puttable(p, check)
		}
		if err != nil {
			return metadata.ID{}, err
		}
		return at.Set.DataspaceID, nil
	})
}

// puttable returns an error if the caller cannot store a file at the path.
func (e DriveEntry) puttable(p auth.Principal, check func(*DriveEntry) error) error {
	if e.File != nil {
		if err := core.Permitted(p, auth.Write); err != nil {
			return err
		}
	} else if err := e.free(); err != nil {
		return err
	}
	return check(&e)
}

// PutAt stores the received file at a path of the drive, in the state that the path has when the
// body has arrived. It replaces the file there and keeps its description, or creates a resource
// with the path as its name. It uses only the fields that describe the body.
func (s *Drive) PutAt(ctx context.Context, u *files.Upload, path DrivePath, f files.UploadFields, check func(*DriveEntry) error) (put metadata.Resource, created bool, err error) {
	err = u.Commit(ctx, func(tx *metadata.Tx, p auth.Principal) (write func() error, err error) {
		at, err := locate(tx, p, path, auth.Add)
		if err == nil {
			err = at.puttable(p, check)
		}
		if err != nil {
			return nil, err
		}
		f := f
		if created = at.File == nil; !created {
			f.Name, f.Format, f.Description, f.Filename = &at.File.Name, &at.File.Format, &at.File.Description, at.File.Filename
		} else {
			f.Name, f.Filename = &at.Name, at.Element
		}
		file, err := u.Describe(f)
		if err == nil {
			err = f.Attributes.Check()
		}
		if err != nil {
			return nil, err
		}
		var saved func() error
		if created {
			saved, err = u.PlanCreate(ctx, tx, p, *at.Set, file, &put)
		} else {
			saved, err = replaceAt(ctx, tx, p, at.File.ID, u, f, file, &put)
		}
		return func() error { return errors.Join(saved(), f.Attributes.Store(tx, put)) }, err
	})
	return put, created, err
}

// replaceAt plans the replacement of the file at a path of the drive.
func replaceAt(ctx context.Context, tx *metadata.Tx, p auth.Principal, id metadata.ID, u *files.Upload, f files.UploadFields, file metadata.Resource, put *metadata.Resource) (write func() error, err error) {
	resolved, err := core.LookupResource(tx, id.String())
	if err == nil {
		err = resolved.Admit(tx, p, auth.Write)
	}
	if err != nil {
		return nil, err
	}
	return u.PlanReplace(ctx, tx, p, resolved, f, file, put)
}
